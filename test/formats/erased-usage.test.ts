import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { openSource } from '../../api/inference/translation/translate-answer.ts';
import { plays } from '../support/raw-provider.ts';
import { useRawFormatGateway } from './raw-format-gateway.ts';
import { eventsIn, FORMATS, post } from './requests.ts';
import { namedEvent } from './wires.ts';

/* A count that is zero or absent never takes the place of a greater one that the same answer gave before. */

const names = { upstreamModel: 'm', publicModel: 'm', showUsage: true };
const counts = (reader: { read(data: Buffer, name: string): unknown }, events: readonly object[]) => {
  for (const event of events) reader.read(Buffer.from(JSON.stringify(event)), '');
  return reader;
};

const start = (usage: object) => ({ type: 'message_start', message: { id: 'm', content: [], usage } });
const delta = (usage: object) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage });

describe('a stream of messages', () => {
  const read = (...events: object[]) => {
    const reader = messagesFormat.openStream(names);
    counts(reader, events);
    return reader.usage(0);
  };
  const begun = {
    input_tokens: 10,
    cache_read_input_tokens: 1_000,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens: 1,
  };

  it.each<[string, object]>([
    [
      'zeros',
      { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 5 },
    ],
    [
      'zeros inside',
      { cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, output_tokens: 5 },
    ],
    ['nulls', { input_tokens: null, cache_read_input_tokens: null, output_tokens: 5 }],
    ['nothing', { output_tokens: 5 }],
    ['the same again', { ...begun, output_tokens: 5 }],
  ])('keeps what its start said where its end says %s', (_name, end) => {
    expect(read(start(begun), delta(end))).toMatchObject({
      tokens: { prompt: 1_040, completion: 5, cached: 1_000, cacheWritten: 30 },
      cacheWritten1h: 20,
    });
  });

  it('takes the truth from its end where its start had zeros', () => {
    const usage = read(
      start({ input_tokens: 0, output_tokens: 0 }),
      delta({ input_tokens: 12, output_tokens: 5 }),
    );
    expect(usage?.tokens).toMatchObject({ prompt: 12, completion: 5 });
    // And does not lose it to another end.
    const twice = read(
      start({ input_tokens: 0, output_tokens: 0 }),
      delta({ input_tokens: 12, output_tokens: 5 }),
      delta({ input_tokens: 0, output_tokens: 0 }),
    );
    expect(twice?.tokens).toMatchObject({ prompt: 12, completion: 5 });
  });

  it('reads the metrics in its last event, which no caller sees', () => {
    const reader = messagesFormat.openStream(names);
    counts(reader, [
      start({ input_tokens: 0, output_tokens: 0 }),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 0 } },
      {
        type: 'message_stop',
        'amazon-bedrock-invocationMetrics': {
          inputTokenCount: 9,
          outputTokenCount: 4,
          cacheReadInputTokenCount: 3,
        },
      },
    ]);
    const usage = reader.usage(0);
    expect(usage?.tokens).toMatchObject({ prompt: 12, completion: 4, cached: 3 });
    const identity = { id: 'x', createdAtS: 1, nowS: 2, model: 'm' };
    const shown = reader.end({ identity, shown: 1n, tokens: usage?.tokens ?? expect.fail() }).toString();
    expect(shown).not.toContain('bedrock');
    expect(shown).toContain('"output_tokens":4');
    expect(shown).toContain('"input_tokens":9');
  });
});

describe('a stream of responses', () => {
  const response = (type: string, usage: object | null) => ({
    type: `response.${type}`,
    response: { id: 'r', status: type, output: [], usage },
  });
  const read = (...events: object[]) => {
    const reader = responsesFormat.openStream(names);
    counts(reader, events);
    return reader.usage(0);
  };

  it('keeps what an earlier event said where its last says zero', () => {
    const usage = read(
      response('created', null),
      response('in_progress', {
        input_tokens: 50,
        output_tokens: 0,
        input_tokens_details: { cached_tokens: 20 },
      }),
      response('completed', {
        input_tokens: 0,
        output_tokens: 7,
        input_tokens_details: { cached_tokens: 0 },
      }),
    );
    expect(usage?.tokens).toMatchObject({ prompt: 50, completion: 7, cached: 20 });
  });
});

describe.each([
  ['passed', () => chatFormat.openStream(names)],
  ['put together', () => chatFormat.openAssembly()],
  ['translated', () => openSource('chat')],
])('a chat that is %s', (_how, open) => {
  const chunk = (usage: unknown, last: boolean) => ({
    id: 'c',
    choices: last ? [] : [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
    usage,
  });

  it('keeps each counter through zeros, nulls and records without it', () => {
    const counter = fc.option(fc.integer({ min: 0, max: 3 }));
    const record = fc.record({ prompt_tokens: counter, completion_tokens: counter }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (later) => {
        const reader = open();
        const all = [{ prompt_tokens: 100, completion_tokens: 50, cost: 0.5 }, ...later];
        counts(
          reader,
          all.map((usage, place) => chunk(usage, place === all.length - 1)),
        );
        const lastOf = (name: 'prompt_tokens' | 'completion_tokens', first: number) =>
          later.reduce((known, { [name]: count }) => count || known, first);
        expect(reader.usage(0)?.tokens).toEqual({
          prompt: lastOf('prompt_tokens', 100),
          completion: lastOf('completion_tokens', 50),
          reasoning: null,
          cached: 0,
        });
        expect(reader.usage(0)?.reportedAttoUsd).toBe(5n * 10n ** 17n);
      }),
      { numRuns: 200 },
    );
  });

  it('takes a reported cost of zero for what it says', () => {
    const reader = open();
    counts(reader, [chunk({ prompt_tokens: 100, completion_tokens: 50, cost: 0 }, true)]);
    expect(reader.usage(0)?.reportedAttoUsd).toBe(0n);
  });
});

describe('zeros in the end of a stream of messages', () => {
  const raw = useRawFormatGateway();

  it.each(FORMATS.flatMap((format) => [false, true].map((stream) => ({ format, stream }))))(
    'leave the charge and what is shown as they are: $format, stream: $stream',
    async ({ format, stream }) => {
      const written =
        namedEvent('message_start', {
          message: {
            id: 'm',
            type: 'message',
            role: 'assistant',
            content: [],
            usage: { input_tokens: 10, cache_read_input_tokens: 1_000, output_tokens: 1 },
          },
        }) +
        namedEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
        namedEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }) +
        namedEvent('content_block_stop', { index: 0 }) +
        namedEvent('message_delta', {
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: {
            input_tokens: 0,
            cache_read_input_tokens: 0,
            cache_creation_input_tokens: 0,
            output_tokens: 5,
          },
        }) +
        namedEvent('message_stop', {});
      raw.provider.answers = plays(written);
      const agent = await raw.gateway.newAgent({ creditUsd: '1' });
      const res = await post(raw.gateway, { kind: 'messages only', format, stream, agent });
      const text = await res.text();
      const bodies: Record<string, unknown>[] = stream ? eventsIn(text) : [JSON.parse(text)];
      const usage = Object(
        bodies
          .map((body) => body.usage ?? Reflect.get(Object(body.response), 'usage'))
          .findLast((each) => Reflect.has(Object(each), 'cost')),
      );
      const read = usage.prompt_tokens ?? usage.input_tokens;
      expect(format === 'messages' ? read + usage.cache_read_input_tokens : read).toBe(1_010);
      expect((await raw.gateway.settled(agent)).chargedNanoUsd).toBe(1_010n * 123n + 5n * 457n);
    },
  );
});

/* The same stream costs the same whether its caller takes it as events or as one answer that the gateway assembles. */

const chatChunk = (delta: object | null, members: object = {}) =>
  `data: ${JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: delta === null ? [] : [{ index: 0, delta, finish_reason: null }],
    ...members,
  })}\n\n`;
const chatCount = (prompt: number, completion: number) => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
});
const responsesEvent = (type: string, usage: object | null) =>
  namedEvent(`response.${type}`, {
    response: {
      id: 'r',
      object: 'response',
      created_at: 1,
      status: type,
      model: 'm',
      output: [
        {
          type: 'message',
          id: 'i',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
        },
      ],
      usage,
    },
  });
const messageEvents = (stop: object) =>
  namedEvent('message_start', {
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: messageCount(0, 0),
    },
  }) +
  namedEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  namedEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }) +
  namedEvent('content_block_stop', { index: 0 }) +
  namedEvent('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 0 },
  }) +
  namedEvent('message_stop', stop);
const messageCount = (input: number, output: number) => ({ input_tokens: input, output_tokens: output });

describe('counts that stand elsewhere than in the last record of a stream', () => {
  const raw = useRawFormatGateway();

  it.each([
    {
      format: 'chat' as const,
      where: 'before a record of zeros',
      written:
        chatChunk({ role: 'assistant', content: 'Hello' }, chatCount(100, 10)) +
        chatChunk(null, chatCount(0, 0)) +
        'data: [DONE]\n\n',
    },
    {
      format: 'responses' as const,
      where: 'before an end without a record',
      written: responsesEvent('in_progress', messageCount(100, 10)) + responsesEvent('completed', null),
    },
    {
      format: 'messages' as const,
      where: 'in the metrics of the last event',
      written: messageEvents({
        'amazon-bedrock-invocationMetrics': { inputTokenCount: 100, outputTokenCount: 10 },
      }),
    },
  ])('are charged and shown in an assembled answer, too: $format, $where', async ({ format, written }) => {
    const seen = [];
    for (const stream of [true, false]) {
      raw.provider.answers = plays(written);
      const agent = await raw.gateway.newAgent({ creditUsd: '1' });
      const res = await post(raw.gateway, { kind: 'all formats', format, stream, agent });
      const text = await res.text();
      const { chargedNanoUsd } = await raw.gateway.settled(agent);
      const usage = stream ? null : JSON.parse(text).usage;
      seen.push({ chargedNanoUsd, prompt: usage?.prompt_tokens ?? usage?.input_tokens });
    }
    const [streamed, assembled] = seen;
    expect(assembled).toEqual({ chargedNanoUsd: streamed?.chargedNanoUsd, prompt: 100 });
    expect(streamed?.chargedNanoUsd).toBe(100n * 123n + 10n * 457n);
  });
});
