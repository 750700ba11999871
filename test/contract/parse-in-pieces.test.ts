import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseChatRequest } from '../../api/contract/chat-request.ts';
import { parseMessagesRequest } from '../../api/contract/messages-request.ts';
import { parseInPieces } from '../../api/contract/parse-in-pieces.ts';

let judged = 0;
const item = z.custom<{ role: string }>((value) => {
  judged++;
  return typeof value === 'object' && value !== null && Reflect.get(value, 'role') === 'user';
});
const schema = z.looseObject({ model: z.string(), messages: z.array(item) });

const good = { role: 'user' };
const bodyWith = (count: number, wrongAt: number | null) => ({
  model: 'm',
  messages: Array.from({ length: count }, (_, at) => (wrongAt !== null && at >= wrongAt ? {} : good)),
});

describe('a body with a long list', () => {
  it('is judged to the piece that has the first mistake, and no further', () => {
    judged = 0;
    const parsed = parseInPieces(schema, bodyWith(10_000, 300), 'messages');
    if (parsed.success) throw new Error('passed');
    expect(parsed.error.issues[0]?.path).toEqual(['messages', 300]);
    expect(judged).toBe(512);
  });

  it.each([0, 1, 256, 257, 600])('of %i entries without a mistake passes as it is', (count) => {
    const body = bodyWith(count, null);
    expect(parseInPieces(schema, body, 'messages')).toEqual({ success: true, data: body });
  });

  it('is told a mistake beside the list', () => {
    const parsed = parseInPieces(schema, { ...bodyWith(300, null), model: 5 }, 'messages');
    if (parsed.success) throw new Error('passed');
    expect(parsed.error.issues[0]?.path).toEqual(['model']);
  });

  it('is told where its first mistake stands, as a short one is', () => {
    const messages = Array.from({ length: 9_000 }, (_, at) => ({
      role: at === 700 ? 7 : 'user',
      content: [],
    }));
    const parsed = parseChatRequest({ model: 'm', messages });
    expect(parsed).toMatchObject({ ok: false, error: { param: 'messages[700].role' } });
  });

  const part = { type: 'text', text: 'x' };
  const partsWith = (wrongAt: number, wrong: unknown) =>
    Array.from({ length: 9_000 }, (_, at) => (at >= wrongAt ? wrong : part));

  it.each([{}, null, 7, [], { type: 5 }, { type: 'text', text: 5 }])(
    'is told the first of many wrong parts in the words of a short list: %j',
    (wrong) => {
      for (const [before, wrongAt] of [
        [0, 0],
        [0, 3],
        [300, 700],
        [2, 8_999],
      ] as const) {
        const first = Array.from({ length: before }, () => ({ role: 'user', content: 'x' }));
        const asked = (content: unknown[]) =>
          parseChatRequest({ model: 'm', messages: [...first, { role: 'user', content }] });
        const inLong = asked(partsWith(wrongAt, wrong));
        const inShort = asked([part, wrong]);
        if (inLong.ok || inShort.ok) throw new Error('passed');
        const expected = JSON.stringify(inShort.error).replaceAll(
          `[${before}].content[1]`,
          `[${before}].content[${wrongAt}]`,
        );
        expect(JSON.stringify(inLong.error)).toBe(expected);
      }
    },
  );

  it('is told the first of many wrong parts of a system prompt', () => {
    const messages = [{ role: 'user', content: 'x' }];
    const parsed = parseMessagesRequest({
      model: 'm',
      max_tokens: 5,
      messages,
      system: partsWith(700, { type: 5 }),
    });
    expect(parsed).toMatchObject({ ok: false, error: { param: 'system[700].type' } });
  });

  it('describes few mistakes of many parts', () => {
    judged = 0;
    const parts = z.looseObject({
      model: z.string(),
      messages: z.array(z.looseObject({ content: z.array(item) })),
    });
    const content = Array.from({ length: 10_000 }, (_, at) => (at >= 300 ? {} : good));
    const parsed = parseInPieces(parts, { model: 'm', messages: [{ content }] }, 'messages');
    if (parsed.success) throw new Error('passed');
    expect(parsed.error.issues[0]?.path).toEqual(['messages', 0, 'content', 300]);
    expect(judged).toBe(512);
  });
});
