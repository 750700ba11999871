import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { eventsOfAnswer } from '../../api/inference/formats/events-of-answer.ts';
import { shapeOf } from '../../api/inference/upstream/answer-shape.ts';

/** What a client makes of the events that stand for a whole answer. */
function readBack(format: FormatName, answer: object): unknown {
  const events = eventsOfAnswer(format, Buffer.from(JSON.stringify(answer)))?.toString() ?? '';
  const assembly = callFormats[format].openAssembly();
  for (const [, data = ''] of events.matchAll(/^data: (.*)$/gm)) assembly.read(Buffer.from(data), '');
  return JSON.parse(assembly.answer()?.toString() ?? 'null');
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
  ])('is what its first bytes say, before its type: %s, %j', (type, first, shape) => {
    expect(shapeOf(type, Buffer.from(first))).toBe(shape);
  });
});
