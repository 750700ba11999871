import { describe, expect, it } from 'vitest';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { endOf, isFailedEnd } from '../../api/inference/formats/end-words.ts';
import { scanJsonObject } from '../../api/inference/json/json-object.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* Servers have words of their own for the end of an answer, which clients do not know. */

/** The word, and the vendors that have it. */
const WITHHELD = [
  ['content_filter', 'OpenAI'],
  ['content_filter: PROHIBITED_CONTENT', 'Gemini'],
  ['content_filter: RECITATION', 'Gemini'],
  ['function_call_filter: MALFORMED_FUNCTION_CALL', 'Gemini'],
  ['MALFORMED_FUNCTION_CALL', 'Gemini behind a proxy'],
  ['UNEXPECTED_TOOL_CALL', 'Gemini behind a proxy'],
  ['SAFETY', 'Gemini behind a proxy'],
  ['IMAGE_SAFETY', 'Gemini behind a proxy'],
  ['BLOCKLIST', 'Gemini behind a proxy'],
  ['SPII', 'Gemini behind a proxy'],
  ['sensitive', 'Z.ai'],
  ['content_filtered', 'Bedrock behind a proxy'],
  ['guardrail_intervened', 'Bedrock behind a proxy'],
  ['malformed_model_output', 'Bedrock behind a proxy'],
  ['malformed_tool_use', 'Bedrock behind a proxy'],
  ['refusal', 'Claude behind a proxy'],
] as const;
const CUT = [
  ['length', 'OpenAI'],
  ['max_tokens', 'Claude behind a proxy'],
  ['MAX_TOKENS', 'Gemini behind a proxy'],
  ['max_output_tokens', 'responses behind a proxy'],
  ['model_length', 'Mistral'],
  ['model_context_window_exceeded', 'Z.ai'],
  ['context_length_exceeded', 'a proxy'],
  ['insufficient_system_resource', 'DeepSeek'],
  ['resource-exhausted: context', 'a proxy'],
  ['time_limit', 'watsonx'],
  ['cancelled', 'watsonx'],
  ['abort', 'SGLang, vLLM'],
  ['aborted', 'DeepSeek'],
  ['repetition', 'vLLM'],
  ['TOO_MANY_TOOL_CALLS_LIMIT', 'a proxy'],
] as const;
const ENDED = [
  ['stop', 'OpenAI'],
  ['eos', 'Together'],
  ['eos_token', 'TGI, watsonx'],
  ['<｜end▁of▁sentence｜>', 'Together'],
  ['<|eot_id|>', 'Together'],
  ['end_turn', 'Claude behind a proxy'],
  ['stop_sequence', 'TGI'],
  ['STOP', 'Gemini behind a proxy'],
  ['COMPLETE', 'Cohere behind a proxy'],
  ['a word of tomorrow', 'nobody yet'],
  ['x'.repeat(100_000), 'a broken server'],
] as const;
const CALLED = [
  ['tool_calls', 'OpenAI'],
  ['tool_use', 'Claude behind a proxy'],
  ['TOOL_CALL', 'Cohere behind a proxy'],
  ['function_call', 'OpenAI, in the old way'],
] as const;

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});
const answerWith = (message: object, word: string): Answer => ({
  events: [chunk(message), chunk({}, word)],
  whole: { id: 'x', choices: [{ index: 0, message, finish_reason: word }] },
});
const text = { role: 'assistant', content: 'Rain' };
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
};

/** The whole answer that is put together of a stream, for a caller who speaks the server's format. */
function putTogether({ events }: Answer): Record<string, unknown> {
  const assembly = callFormats.chat.openAssembly();
  for (const event of events) assembly.read(Buffer.from(JSON.stringify(event)), '');
  return JSON.parse(assembly.answer()?.toString() ?? '');
}

function expectEnd(answer: Answer, chat: string, incomplete: string | null, messages: string): void {
  expect(putTogether(answer)).toMatchObject({ choices: [{ finish_reason: chat }] });
  for (const shown of [shownWhole, shownCollected, shownStream]) {
    expect(shown('chat', 'responses', answer)).toMatchObject(
      incomplete === null
        ? { status: 'completed', incomplete_details: null }
        : { status: 'incomplete', incomplete_details: { reason: incomplete } },
    );
    expect(shown('chat', 'messages', answer)).toMatchObject({ stop_reason: messages });
  }
}

describe('an answer that ends with the word', () => {
  it.each(WITHHELD)('%s of %s is told as withheld', (word) => {
    expectEnd(answerWith(text, word), 'content_filter', 'content_filter', 'refusal');
  });

  it.each(CUT)('%s of %s is told as cut', (word) => {
    expectEnd(answerWith(text, word), 'length', 'max_output_tokens', 'max_tokens');
  });

  it.each(ENDED)('%s of %s is told as ended', (word) => {
    expectEnd(answerWith(text, word), 'stop', null, 'end_turn');
  });

  it.each(CALLED)('%s of %s is told as one that calls', (word) => {
    const own = word === 'function_call' ? word : 'tool_calls';
    expectEnd(answerWith(called, word), own, null, 'tool_use');
  });
});

it('a call behind another word for the end is told as a call', () => {
  for (const [word] of ENDED) if (word !== 'stop') expect(endOf(word, true)).toBe('tool_calls');
  expectEnd(answerWith(called, 'eos'), 'tool_calls', null, 'tool_use');
});

it('an answer that is put together has a word for its end, even if its stream had none', () => {
  const { events } = answerWith(text, '');
  expect(putTogether({ events, whole: {} })).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
  expect(putTogether({ events: [chunk(called)], whole: {} })).toMatchObject({
    choices: [{ finish_reason: 'tool_calls' }],
  });
});

it('an empty word behind the end does not take the end back', () => {
  const events = [chunk(text), chunk({}, 'length'), chunk({}, '')];
  expect(putTogether({ events, whole: {} })).toMatchObject({ choices: [{ finish_reason: 'length' }] });
});

it('an answer whose server ends each chunk ends with the last word', () => {
  const called = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } };
  const late = { index: 0, function: { arguments: '{}' } };
  const ends = [chunk({}, 'stop'), chunk(text), chunk({}, 'stop')];
  const calling = [
    ...ends,
    chunk({ tool_calls: [called] }),
    chunk({}, 'stop'),
    chunk({ tool_calls: [late] }),
    chunk({}, 'stop'),
  ];
  const shownBy = [shownCollected, shownStream];
  for (const shown of shownBy) {
    const answer = { events: calling, whole: {} };
    expect(shown('chat', 'messages', answer)).toMatchObject({
      content: [
        { type: 'text', text: 'Rain' },
        { type: 'tool_use', name: 'f' },
      ],
      stop_reason: 'tool_use',
    });
    const cut = { events: [...ends, chunk({}, 'length')], whole: {} };
    expect(shown('chat', 'messages', cut)).toMatchObject({ stop_reason: 'max_tokens' });
    expect(shown('chat', 'responses', cut)).toMatchObject({ status: 'incomplete' });
  }
  expect(putTogether({ events: [...ends, chunk({}, 'length')], whole: {} })).toMatchObject({
    choices: [{ finish_reason: 'length' }],
  });
});

it.each([
  ['maxTokens', 'length'],
  ['contentFilter', 'content_filter'],
  ['toolUse', 'tool_calls'],
])('a word in capitals inside is read by its parts: %s', (word, end) => {
  expect(endOf(word, true)).toBe(end);
});

describe('a model that failed', () => {
  it.each(['error', 'network_error', 'network-error', 'server_error'])(
    'is an error where it ends with %s',
    (word) => {
      const value = JSON.parse(JSON.stringify(answerWith(text, word).whole));
      const answer = scanJsonObject(Buffer.from(JSON.stringify(value)));
      if (typeof answer === 'string') throw new Error(answer);
      expect(callFormats.chat.readAnswer(answer, value).kind).toBe('error');
      const assembly = callFormats.chat.openAssembly();
      expect(assembly.read(Buffer.from(JSON.stringify(chunk({}, word))), '').kind).toBe('error');
    },
  );

  it('is not taken for one that ended', () => {
    for (const [word] of [...WITHHELD, ...CUT, ...ENDED, ...CALLED]) expect(isFailedEnd(word)).toBe(false);
  });
});
