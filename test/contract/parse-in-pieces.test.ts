import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseChatRequest } from '../../api/contract/chat-request.ts';
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
});
