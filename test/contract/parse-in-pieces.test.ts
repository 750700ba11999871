import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ChatCompletionRequest, parseChatRequest } from '../../api/contract/chat-request.ts';
import { describeIssue } from '../../api/contract/describe-issue.ts';
import { MessagesRequest, parseMessagesRequest } from '../../api/contract/messages-request.ts';
import { parseInPieces } from '../../api/contract/parse-in-pieces.ts';
import { parseResponsesRequest, ResponsesRequest } from '../../api/contract/responses-request.ts';

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

  it.each([[{}], [null], [7], [[]], [{ type: 5 }], [{ type: 'text', text: 5 }]])(
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

  it('describes few mistakes of many messages with some parts each', () => {
    judged = 0;
    const parts = z.looseObject({
      model: z.string(),
      messages: z.array(z.looseObject({ content: z.array(item) })),
    });
    const messages = Array.from({ length: 250 }, () => ({
      content: Array.from({ length: 250 }, () => ({})),
    }));
    const parsed = parseInPieces(parts, { model: 'm', messages }, 'messages');
    if (parsed.success) throw new Error('passed');
    expect(parsed.error.issues[0]?.path).toEqual(['messages', 0, 'content', 0]);
    expect(judged).toBeLessThan(20_000);
  });

  it('does not judge the fields and parts of a message again with each piece of its parts or of a system prompt', () => {
    const counts = { fields: 0, parts: 0 };
    const counter = (name: keyof typeof counts) => z.custom<unknown>(() => ++counts[name] > 0);
    const counting = z.looseObject({
      model: z.string(),
      messages: z.array(
        z.looseObject({ content: z.array(counter('parts')), field: counter('fields').optional() }),
      ),
      system: z.array(z.unknown()).optional(),
    });
    const list = Array.from({ length: 10_000 }, () => good);
    const body = { model: 'm', messages: [{ role: 'user', content: list, field: 1 }], system: list };
    expect(parseInPieces(counting, body, 'messages', 'system')).toEqual({ success: true, data: body });
    expect(counts.parts).toBeLessThan(2 * 10_000 + 11_000);
    expect(counts.fields).toBe(2);
  });
});

describe.each([
  ['chat', 'messages', ChatCompletionRequest, parseChatRequest],
  ['responses', 'input', ResponsesRequest, parseResponsesRequest],
  ['messages', 'messages', MessagesRequest, parseMessagesRequest],
] as const)('a mistake in a long list of %s', (_, list, wholeSchema, parse) => {
  const part = { type: 'text', text: 'x' };
  const placeIn = (before: number, items: readonly unknown[]) => ({
    model: 'm',
    [list]: [...Array.from({ length: before }, () => ({ role: 'user', content: 'x' })), ...items],
  });
  const told = (body: unknown) => {
    const parsed = parse(body);
    if (parsed.ok) throw new Error('passed');
    return parsed.error;
  };
  const toldOfWhole = (body: unknown) => describeIssue(wholeSchema.safeParse(body).error?.issues ?? [], body);

  const borders = [0, 1, 88, 254, 255, 256, 257, 511, 512, 513, 600, 767, 768];

  it.each([[{}], [null], [7], ['x'], [[]], [{ type: 5 }], [{ type: 'text', text: 5 }]])(
    'of parts is told in the place and the words of the whole list: %j',
    (wrong) => {
      for (const at of borders)
        for (const before of [0, 1, 255, 256, 300])
          for (const behind of [0, 1, 300]) {
            const good = (count: number) => Array.from({ length: count }, () => part);
            const content = [...good(at), wrong, ...good(behind)];
            const body = placeIn(before, [
              { role: 'user', content },
              { role: 'user', content: [part] },
            ]);
            const error = told(body);
            expect(error).toEqual(toldOfWhole(body));
            expect(error.param).toContain(`${list}[${before}].content[${at}]`);
          }
    },
  );

  it.each([
    [null],
    [7],
    ['x'],
    [[]],
    [{ role: 5 }],
    [{ role: 'user', content: 7 }],
    [{ role: 'user', content: { a: 1 } }],
  ])('of messages is told in the place and the words of the whole list: %j', (wrong) => {
    for (const at of borders)
      for (const behind of [0, 1, 300]) {
        const body = placeIn(at, [
          wrong,
          ...Array.from({ length: behind }, () => ({ role: 'user', content: [part] })),
        ]);
        const error = told(body);
        expect(error).toEqual(toldOfWhole(body));
        expect(error.param).toContain(`${list}[${at}]`);
      }
  });

  it('beside its many parts is told of the message that has it', () => {
    const content = Array.from({ length: 600 }, () => part);
    for (const before of [0, 3, 256]) {
      const body = placeIn(before, [{ role: 5, content }]);
      expect(told(body)).toEqual(toldOfWhole(body));
      expect(told(body).param).toBe(`${list}[${before}].role`);
    }
  });
});
