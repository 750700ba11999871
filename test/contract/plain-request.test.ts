import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatCompletionRequest, plainChat } from '../../api/contract/chat-request.ts';
import { MessagesRequest, plainMessagesRequest } from '../../api/contract/messages-request.ts';
import { isPlainRequest } from '../../api/contract/plain-request.ts';
import { plainResponsesRequest, ResponsesRequest } from '../../api/contract/responses-request.ts';

const formats = [
  { name: 'chat', schema: ChatCompletionRequest, plain: plainChat, said: 'messages' },
  { name: 'messages', schema: MessagesRequest, plain: plainMessagesRequest, said: 'messages' },
  { name: 'responses', schema: ResponsesRequest, plain: plainResponsesRequest, said: 'input' },
] as const;
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
const bodyOf = (fields: Iterable<string>, said: string) =>
  fc
    .tuple(
      fc.record({
        model: fc.oneof({ weight: 5, arbitrary: fc.constant('vendor/model') }, odd),
        [said]: fc.oneof({ weight: 5, arbitrary: fc.array(message, { maxLength: 3 }) }, odd),
      }),
      fc.array(fc.tuple(fc.constantFrom(...fields, 'seed', 'user', '__proto__'), odd), { maxLength: 3 }),
    )
    // As it comes from a text, where `__proto__` is a key like any other.
    .map(([base, more]): unknown => JSON.parse(JSON.stringify({ ...base, ...Object.fromEntries(more) })));

describe.each(formats)('what is taken for plain by $name', ({ schema, plain: fields, said }) => {
  it('is what the schema accepts, and what it leaves as it is', () => {
    let plain = 0;
    fc.assert(
      fc.property(bodyOf(fields.schemaFields, said), (value) => {
        if (!isPlainRequest(value, fields)) return;
        plain++;
        const before = structuredClone(value);
        expect(schema.parse(value)).toEqual(before);
      }),
      { numRuns: 20_000 },
    );
    expect(plain).toBeGreaterThan(500);
  });

  it.each([
    { [said]: [{ role: 'user', content: 'a' }] },
    { model: 'a/b', [said]: [] },
    { model: 'a/b', [said]: [{ role: 'user' }] },
    { model: 'a/b', [said]: [{ role: 'robot', content: 'a' }] },
    { model: 'a/b', [said]: [{ role: 'user', content: 'a' }], tools: [] },
    { model: 'a/b', [said]: [{ role: 'user', content: 'a' }], max_tokens: 0, max_output_tokens: 0 },
    { model: 'a/b', [said]: [{ role: 'user', content: 'a' }], temperature: 2.1 },
  ])('is not %j, which the schema has to judge', (value) => {
    expect(isPlainRequest(value, fields)).toBe(false);
  });
});

it('what most agents send is plain', () => {
  const said = [{ role: 'user', content: 'Hello' }];
  const options = { temperature: 0, stream: false, seed: 1 };
  const streamed = { stream: true, stream_options: { include_usage: true } };
  for (const more of [{}, { ...options, max_tokens: 5 }, streamed]) {
    expect(isPlainRequest({ model: 'a/b', messages: said, ...more }, plainChat)).toBe(true);
  }
  const messages = { model: 'a/b', max_tokens: 5, system: 'x', messages: said, ...options };
  expect(isPlainRequest(messages, plainMessagesRequest)).toBe(true);
  for (const input of ['Hello', said]) {
    const responses = { model: 'a/b', max_output_tokens: 5, instructions: 'x', input, ...options };
    expect(isPlainRequest(responses, plainResponsesRequest)).toBe(true);
  }
});
