import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import fc from 'fast-check';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { eventsOfAnswer } from '../../api/inference/formats/events-of-answer.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { shapeOf } from '../../api/inference/upstream/answer-shape.ts';
import { SSE_EVENT_BYTES } from '../../api/inference/upstream/stream-relay.ts';

/** A client makes this of the events that stand for a whole answer. */
function readBack(format: FormatName, answer: object): unknown {
  const events = eventsOfAnswer(format, Buffer.from(JSON.stringify(answer)))?.toString() ?? '';
  const assembly = callFormats[format].openAssembly();
  for (const [, data = ''] of events.matchAll(/^data: (.*)$/gm)) assembly.read(Buffer.from(data), '');
  return JSON.parse(assembly.answer()?.toString() ?? 'null');
}

/** The JSON of each event. */
const eventsFor = (format: FormatName, answer: object): Record<string, unknown>[] => {
  const text = eventsOfAnswer(format, Buffer.from(JSON.stringify(answer)))?.toString() ?? '';
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
};

/** One line each, as the official clients print the streams that they read. */
const linesOf = (events: readonly object[]): ReadableStream =>
  new Blob([events.map((event) => `${JSON.stringify(event)}\n`).join('')]).stream();

/** The answer that the official client of the format puts together from the events. */
async function accumulated(format: FormatName, answer: object): Promise<unknown> {
  const events = eventsFor(format, answer);
  switch (format) {
    case 'chat':
      return await ChatCompletionStream.fromReadableStream(linesOf(events)).finalChatCompletion();
    case 'messages':
      return await MessageStream.fromReadableStream(linesOf(events)).finalMessage();
    case 'responses': {
      let snapshot: Response | undefined;
      // The last event repeats the whole, so what the others bring is compared.
      for (const event of events.slice(0, -1))
        snapshot = accumulateResponse(event as unknown as ResponseStreamEvent, snapshot);
      return snapshot;
    }
  }
}

const words = fc.string({ minLength: 1, maxLength: 20 });
const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.oneof(words, fc.integer()), { maxKeys: 3 });

describe('a whole answer where a stream was asked for', () => {
  it('is the same answer in events of chat', () => {
    fc.assert(
      fc.property(words, fc.array(args, { maxLength: 3 }), (content, calls) => {
        const message = {
          role: 'assistant',
          content,
          refusal: null,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map((input, index) => ({
                  id: `c${index}`,
                  type: 'function',
                  function: { name: 'f', arguments: JSON.stringify(input) },
                })),
              }),
        };
        const answer = {
          id: 'a',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          system_fingerprint: null,
          choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
          usage: { prompt_tokens: 1, completion_tokens: 2 },
        };
        expect(readBack('chat', answer)).toEqual(answer);
      }),
    );
  });

  it('is the same answer in events of messages', () => {
    const content = [
      { type: 'thinking', thinking: 'so', signature: 's' },
      { type: 'text', text: 'a\n"b"' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
    ];
    const answer = {
      id: 'a',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    expect(readBack('messages', answer)).toEqual(answer);
  });

  it('is the same answer in events of responses', () => {
    const answer = {
      id: 'a',
      object: 'response',
      status: 'completed',
      output: [
        { type: 'reasoning', id: 'r', summary: [] },
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'a\n"b"', annotations: [] }],
        },
        { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' },
      ],
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    expect(readBack('responses', answer)).toEqual(answer);
  });

  it('is the same answer to the official client of chat, in every member', async () => {
    const answer = {
      id: 'a',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      system_fingerprint: 'fp',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello 🚇',
            refusal: null,
            annotations: [
              { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 5 } },
            ],
          },
          logprobs: {
            content: [{ token: 'Hello', logprob: -0.1, bytes: null, top_logprobs: [] }],
            refusal: null,
          },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    };
    expect(await accumulated('chat', answer)).toMatchObject(answer);
    const [choice] = answer.choices;
    const [first, ...rest] = eventsFor('chat', answer).flatMap(({ choices }) => records(choices));
    expect(first).toMatchObject({ delta: { role: 'assistant' }, finish_reason: null });
    expect(rest.at(-1)).toEqual({ index: 0, delta: {}, logprobs: choice?.logprobs, finish_reason: 'stop' });
  });

  it('has the texts of a chat in the order in which a model writes them, each once', () => {
    const annotations = [{ type: 'url_citation', url_citation: { url: 'u', start_index: 0, end_index: 4 } }];
    const reasoning_details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0 }];
    const message = {
      role: 'assistant',
      annotations,
      audio: null,
      content: 'Rain',
      function_call: null,
      reasoning: 'Hm.',
      reasoning_content: 'Hm.',
      reasoning_details,
    };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const answer = { id: 'a', object: 'chat.completion', created: 1, model: 'm', choices };
    const deltas = eventsFor('chat', answer).flatMap((event) =>
      records(event.choices).map(({ delta }) => delta),
    );
    expect(deltas).toEqual([
      { role: 'assistant' },
      { reasoning: 'Hm.', reasoning_content: 'Hm.', reasoning_details },
      { content: 'Rain' },
      { annotations },
      {},
    ]);
  });

  it('is the same answer to the official client of chat, whatever it calls', async () => {
    await fc.assert(
      fc.asyncProperty(words, fc.array(args, { minLength: 1, maxLength: 3 }), async (refusal, calls) => {
        const message = {
          role: 'assistant',
          content: null,
          refusal,
          tool_calls: calls.map((input, index) => ({
            id: `c${index}`,
            type: 'function',
            function: { name: 'f', arguments: JSON.stringify(input) },
          })),
        };
        const choice = { index: 0, message, finish_reason: 'tool_calls', logprobs: null };
        const answer = { id: 'a', object: 'chat.completion', created: 1, model: 'm', choices: [choice] };
        expect(await accumulated('chat', answer)).toMatchObject({
          choices: [{ message: { refusal, tool_calls: message.tool_calls }, finish_reason: 'tool_calls' }],
        });
      }),
      { numRuns: 30 },
    );
  });

  it('is the same answer to the official client of messages, in every member', async () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'u',
      title: 't',
      cited_text: 'x',
      encrypted_index: 'e',
    };
    const block = fc.oneof(
      fc.record({
        type: fc.constant('text'),
        text: words,
        citations: fc.constantFrom(null, [citation, citation]),
      }),
      fc.record({ type: fc.constant('thinking'), thinking: words, signature: words }),
      fc.record({ type: fc.constant('redacted_thinking'), data: words }),
      fc.record({
        type: fc.constantFrom('tool_use', 'server_tool_use'),
        id: words,
        name: words,
        input: args,
      }),
      fc.record({
        type: fc.constant('web_search_tool_result'),
        tool_use_id: words,
        content: fc.constant([]),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(block, { maxLength: 5 }), async (content) => {
        const answer = {
          id: 'a',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content,
          stop_reason: 'tool_use',
          stop_sequence: null,
          stop_details: null,
          container: { id: 'c', expires_at: 'x' },
          usage: {
            input_tokens: 1,
            output_tokens: 2,
            cache_read_input_tokens: 3,
            cache_creation_input_tokens: 4,
          },
        };
        // The client adds what it has parsed of the text.
        expect(JSON.parse(JSON.stringify(await accumulated('messages', answer)))).toMatchObject(answer);
      }),
      { numRuns: 60 },
    );
  });

  it('is the same answer to the official client of responses, from the events before the last', async () => {
    const annotation = { type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 };
    const part = fc.oneof(
      fc.record({
        type: fc.constant('output_text'),
        text: words,
        annotations: fc.constantFrom([], [annotation, annotation]),
      }),
      fc.record({ type: fc.constant('refusal'), refusal: words }),
    );
    const item = fc.oneof(
      fc.record({
        type: fc.constant('message'),
        role: fc.constant('assistant'),
        content: fc.array(part, { maxLength: 3 }),
      }),
      fc.record({
        type: fc.constant('reasoning'),
        summary: fc.array(fc.record({ type: fc.constant('summary_text'), text: words }), { maxLength: 2 }),
        content: fc.array(fc.record({ type: fc.constant('reasoning_text'), text: words }), { maxLength: 2 }),
        encrypted_content: words,
      }),
      fc.record({
        type: fc.constant('function_call'),
        name: words,
        arguments: args.map((input) => JSON.stringify(input)),
      }),
      fc.record({ type: fc.constant('custom_tool_call'), name: words, input: words }),
      fc.record({ type: fc.constant('image_generation_call'), result: words }),
      fc.record({
        type: fc.constant('web_search_call'),
        action: fc.constant({ type: 'search', query: 'q' }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 5 }), async (items) => {
        const output = items.map((each, index) => ({
          id: `i_${index}`,
          ...(each.type.endsWith('tool_call') || each.type === 'function_call'
            ? { call_id: `c_${index}` }
            : {}),
          status: 'completed',
          ...each,
        }));
        const answer = { id: 'a', object: 'response', status: 'completed', error: null, output, usage: null };
        expect(await accumulated('responses', answer)).toMatchObject({ id: 'a', output });
        const events = eventsFor('responses', answer);
        expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_, index) => index));
        expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: answer });
        for (const { item: begun } of events.filter(({ type }) => type === 'response.output_item.added')) {
          const added = recordOf(begun);
          expect([added.content ?? [], added.summary ?? []]).toEqual([[], []]);
          expect([added.arguments ?? '', added.input ?? '', added.result ?? null]).toEqual(['', '', null]);
        }
        // A client that shows an answer as it comes sees all of it in the deltas.
        const deltas = events.filter(({ type }) => String(type).endsWith('.delta')).map(({ delta }) => delta);
        const said = output.flatMap((each) => {
          if (each.type === 'message')
            return records(each.content).map(({ text, refusal }) => text ?? refusal);
          if (each.type === 'reasoning')
            return [...records(each.summary), ...records(each.content)].map(({ text }) => text);
          return [Reflect.get(each, 'arguments') ?? Reflect.get(each, 'input') ?? ''];
        });
        expect(deltas.join('')).toBe(said.join(''));
      }),
      { numRuns: 100 },
    );
  });

  it('is a response in which each item has an id, by which its events name it', async () => {
    const answer = {
      id: 'a',
      status: 'completed',
      output: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }],
    };
    expect(await accumulated('responses', answer)).toMatchObject({
      output: [{ id: 'item_0', arguments: '{}' }],
    });
  });

  it.each(['incomplete', 'completed'])('ends as the response did: %s', (status) => {
    const answer = { id: 'a', status, incomplete_details: { reason: 'max_output_tokens' }, output: [] };
    const events = eventsFor('responses', answer);
    expect(events.at(-1)).toMatchObject({ type: `response.${status}`, response: answer });
    expect(events[0]).toMatchObject({ response: { status: 'in_progress', incomplete_details: null } });
  });

  it('with a long member of the server’s own has it in its first event alone', () => {
    const message = { role: 'assistant', content: 'x'.repeat(500_000) };
    const answer = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const events = eventsFor('chat', {
      ...answer,
      prompt_token_ids: Array.from({ length: 20_000 }, () => 7),
    });
    expect(events.length).toBeGreaterThan(5);
    expect(events.filter((event) => 'prompt_token_ids' in event)).toHaveLength(1);
    for (const event of events) expect(event).toMatchObject({ id: 'c', model: 'm' });
  });

  it('of megabytes comes in events of less than one, of which none cuts a letter', () => {
    const long = '🚇x'.repeat(700_000);
    const chat = {
      choices: [
        {
          index: 0,
          message: {
            content: long,
            reasoning: long,
            tool_calls: [{ id: 'c', function: { name: 'f', arguments: long } }],
          },
        },
      ],
    };
    const events = eventsFor('chat', chat);
    expect(Math.max(...events.map((event) => JSON.stringify(event).length))).toBeLessThan(SSE_EVENT_BYTES);
    for (const event of events)
      expect(JSON.stringify(event).isWellFormed() && !JSON.stringify(event).includes('\\ud8')).toBe(true);
    expect(readBack('chat', chat)).toMatchObject({
      choices: [{ message: { content: long, reasoning: long } }],
    });
    const message = {
      content: [
        { type: 'text', text: long },
        { type: 'thinking', thinking: long, signature: 's' },
      ],
    };
    expect(
      Math.max(...eventsFor('messages', message).map((event) => JSON.stringify(event).length)),
    ).toBeLessThan(SSE_EVENT_BYTES);
  });

  it('says how it ended at its end alone', () => {
    const ended = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'x' },
      container: { id: 'c' },
      context_management: { applied_edits: [{ type: 'y' }] },
    };
    const [begun, ...others] = eventsFor('messages', { id: 'm', content: [], ...ended, usage: {} });
    const { stop_reason, stop_details, container, context_management } = recordOf(begun?.message);
    expect({ stop_reason, stop_details, container, context_management }).toEqual({
      stop_reason: null,
      stop_details: null,
      container: null,
      context_management: null,
    });
    const { context_management: managed, ...delta } = ended;
    expect(others[0]).toMatchObject({ type: 'message_delta', delta, context_management: managed });
  });

  it.each(['', '[]', '"x"', '{', 'null'])('is none where it is no object: %s', (text) => {
    for (const format of ['chat', 'responses', 'messages'] as const)
      expect(eventsOfAnswer(format, Buffer.from(text))).toBeNull();
  });
});

describe('the shape of an answer', () => {
  it.each([
    ['text/event-stream', 'data: {}', 'events'],
    ['text/plain', 'data: {}\n\n', 'events'],
    ['', 'event: message_start\ndata: {}', 'events'],
    ['application/json', ': comment\n\ndata: {}', 'events'],
    ['application/octet-stream', '\uFEFF\r\n data: {}', 'events'],
    ['text/event-stream', '{"id":"a"}', 'json'],
    ['application/json', ' \n{"id":"a"}', 'json'],
    ['text/html', '<html>', 'json'],
    ['text/event-stream; charset=utf-8', 'dat', 'events'],
    ['application/json', '', 'json'],
    ['text/plain', 'd', 'events'],
    ['text/plain', 'data', 'events'],
    ['', 'even', 'events'],
    ['text/plain', 'dates', 'json'],
  ])('is what its first bytes say, before its type: %s, %j', (type, first, shape) => {
    expect(shapeOf(type, Buffer.from(first))).toBe(shape);
  });
});
