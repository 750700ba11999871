import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatCompletionRequest } from '../../api/contract/chat-request.ts';
import { isPlainChat } from '../../api/contract/is-plain-chat.ts';

const fields = new Set(Object.keys(ChatCompletionRequest.shape));
const odd = fc.oneof(
  fc.constantFrom({ include_usage: true }, { include_usage: 1 }, { other: true }),
  fc.constantFrom(null, '', '5', 0, 1, -1, 1.5, 2, 2.5, 2 ** 31 - 1, 2 ** 31, 1e300, true, false, {}, []),
  fc.string({ maxLength: 300 }),
);
const role = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool') },
  odd,
);
const content = fc.oneof(
  { weight: 9, arbitrary: fc.string() },
  fc.constant([{ type: 'text', text: 'a' }]),
  odd,
);
const message = fc.oneof(
  { weight: 9, arbitrary: fc.record({ role, content }) },
  fc.record({ role, content, name: odd }, { requiredKeys: ['role'] }),
  odd,
);
const names = [...fields, 'seed', 'user', '__proto__'];
const body = fc
  .tuple(
    fc.record({
      model: fc.oneof({ weight: 5, arbitrary: fc.constant('vendor/model') }, odd),
      messages: fc.oneof({ weight: 5, arbitrary: fc.array(message, { maxLength: 3 }) }, odd),
    }),
    fc.array(fc.tuple(fc.constantFrom(...names), odd), { maxLength: 3 }),
  )
  // As it comes from a text, where `__proto__` is a key like any other.
  .map(([base, more]): unknown => JSON.parse(JSON.stringify({ ...base, ...Object.fromEntries(more) })));

describe('what is taken for plain', () => {
  it('is what the schema accepts, and what it leaves as it is', () => {
    let plain = 0;
    fc.assert(
      fc.property(body, (value) => {
        if (!isPlainChat(value, fields)) return;
        plain++;
        const before = structuredClone(value);
        expect(ChatCompletionRequest.parse(value)).toEqual(before);
      }),
      { numRuns: 20_000 },
    );
    expect(plain).toBeGreaterThan(500);
  });

  it('is what most agents send', () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const streamed = { stream: true, stream_options: { include_usage: true } };
    for (const more of [{}, { max_tokens: 5, temperature: 0, stream: false, seed: 1 }, streamed]) {
      expect(isPlainChat({ model: 'a/b', messages, ...more }, fields)).toBe(true);
    }
  });

  it.each([
    { messages: [{ role: 'user', content: 'a' }] },
    { model: 'a/b', messages: [] },
    { model: 'a/b', messages: [{ role: 'user' }] },
    { model: 'a/b', messages: [{ role: 'robot', content: 'a' }] },
    { model: 'a/b', messages: [{ role: 'user', content: 'a' }], tools: [] },
    { model: 'a/b', messages: [{ role: 'user', content: 'a' }], max_tokens: 0 },
    { model: 'a/b', messages: [{ role: 'user', content: 'a' }], temperature: 2.1 },
  ])('is not %j, which the schema has to judge', (value) => {
    expect(isPlainChat(value, fields)).toBe(false);
  });
});
