import { describe, expect, it } from 'vitest';
import { isRecord } from '#core/is-record.ts';
import { echoOf } from '../../api/inference/formats/responses-echo.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { scanJsonObject } from '../../api/inference/json/json-object.ts';
import { asAsked } from './asked-dialect.ts';
import { type Answer, shownCollected, shownEvents, shownStream, shownWhole } from './shown-answers.ts';

/* What a caller of responses is shown of a provider that speaks chat: the whole object, as the format's own servers send it. */

const chunk = (delta: object, reason: string | null = null) => ({
  id: 'a',
  choices: [{ index: 0, delta, finish_reason: reason }],
});

/** The answer in one message, once in chunks of its members and once whole. */
function answered(message: Record<string, unknown>, reason: string): Answer {
  const deltas = Object.entries(message).map(([name, value]) =>
    chunk({ [name]: Array.isArray(value) ? value.map((call, index) => ({ index, ...call })) : value }),
  );
  return {
    events: [...deltas, chunk({}, reason)],
    whole: {
      id: 'a',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
    },
  };
}

const ways = [
  ['streamed', shownStream],
  ['put together', shownCollected],
  ['whole', shownWhole],
] as const;

const eventsOf = (answer: Answer, shown = asAsked): Record<string, unknown>[] =>
  shownEvents('chat', 'responses', answer, shown).flatMap((data) => {
    const event: unknown = JSON.parse(data);
    return isRecord(event) ? [event] : [];
  });
const typesOf = (events: readonly Record<string, unknown>[]): unknown[] => events.map(({ type }) => type);

/** Members that every response of the format has. */
const MEMBERS =
  'id object created_at completed_at status error incomplete_details model output background frequency_penalty instructions ' +
  'max_output_tokens max_tool_calls metadata parallel_tool_calls presence_penalty previous_response_id prompt_cache_key ' +
  'reasoning safety_identifier service_tier store temperature text tool_choice tools top_logprobs top_p truncation';

describe('a response', () => {
  function echo(body: object): string {
    const object = scanJsonObject(Buffer.from(JSON.stringify(body)));
    if (typeof object === 'string') throw new Error(object);
    return echoOf({ body: object });
  }
  const request = {
    model: 'm',
    input: 'x',
    instructions: 'Be short.',
    temperature: 0.5,
    max_output_tokens: 90,
    tools: [{ type: 'function', name: 'f', parameters: null }],
    tool_choice: 'required',
    metadata: { a: 'b' },
    reasoning: { effort: 'low' },
    text: { verbosity: 'low' },
  };

  it.each(ways)('has every member of its format, and repeats the request: %s', (_how, shown) => {
    const response = shown('chat', 'responses', answered({ content: 'hi' }, 'stop'), {
      ...asAsked,
      echo: echo(request),
    });
    expect(Object.keys(response)).toEqual(expect.arrayContaining(MEMBERS.split(' ')));
    const { model: _model, input: _input, ...repeated } = request;
    expect(response).toMatchObject({
      ...repeated,
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'text' }, verbosity: 'low' },
      status: 'completed',
      created_at: 1,
      completed_at: 2,
    });
  });

  it.each([{}, { text: {} }, { text: null }, { text: { format: null } }, { reasoning: null, tools: null }])(
    'has what the format says where the request says nothing: %j',
    (body) => {
      expect(JSON.parse(`{${echo(body)}}`)).toMatchObject({
        text: { format: { type: 'text' } },
        reasoning: { effort: null, summary: null },
        tools: [],
        tool_choice: 'auto',
        parallel_tool_calls: true,
        store: false,
      });
    },
  );

  it('is in progress when it begins, and completed at no time', () => {
    const [created, inProgress] = eventsOf(answered({ content: 'hi' }, 'stop'));
    expect([created?.type, inProgress?.type]).toEqual(['response.created', 'response.in_progress']);
    for (const event of [created, inProgress])
      expect(event?.response).toMatchObject({
        status: 'in_progress',
        completed_at: null,
        output: [],
        usage: null,
      });
  });

  it('numbers its events from 0 on, each once', () => {
    const events = eventsOf(answered({ reasoning_content: 'so', content: 'hi' }, 'stop'));
    expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_, index) => index));
  });
});

describe('an answer that was cut', () => {
  it.each(ways)('has its last item marked, and each call whose arguments do not end: %s', (_how, shown) => {
    const calls = [
      { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      { id: 'c2', type: 'function', function: { name: 'f', arguments: '{"a":' } },
    ];
    const response = shown('chat', 'responses', answered({ content: 'hi', tool_calls: calls }, 'length'));
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect(records(response.output).map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'incomplete',
    ]);
    const text = shown('chat', 'responses', answered({ content: 'hi' }, 'length'));
    expect(records(text.output)).toMatchObject([{ type: 'message', status: 'incomplete' }]);
  });

  it('ends in the event of an incomplete response', () => {
    expect(typesOf(eventsOf(answered({ content: 'hi' }, 'length'))).at(-1)).toBe('response.incomplete');
    expect(typesOf(eventsOf(answered({ content: 'hi' }, 'content_filter'))).at(-1)).toBe(
      'response.incomplete',
    );
  });
});

describe('a refusal', () => {
  it.each(ways)('is one in every format: %s', (_how, shown) => {
    const refused = answered({ content: null, refusal: 'No.' }, 'stop');
    const response = shown('chat', 'responses', refused);
    expect(records(response.output)).toMatchObject([{ content: [{ type: 'refusal', refusal: 'No.' }] }]);
    const message = shown('chat', 'messages', refused);
    expect(message).toMatchObject({ content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' });
  });

  it('comes in events of its own', () => {
    const types = typesOf(eventsOf(answered({ refusal: 'No.' }, 'stop')));
    expect(types).toEqual(expect.arrayContaining(['response.refusal.delta', 'response.refusal.done']));
    expect(types).not.toContain('response.output_text.delta');
  });
});

describe('reasoning', () => {
  it('that a server shows as it is, is content, and its events say so', () => {
    const answer = answered({ reasoning_content: 'so', content: 'hi' }, 'stop');
    for (const [, shown] of ways)
      expect(records(shown('chat', 'responses', answer).output)[0]).toMatchObject({
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'so' }],
      });
    expect(typesOf(eventsOf(answer))).toEqual(
      expect.arrayContaining(['response.reasoning_text.delta', 'response.reasoning_text.done']),
    );
  });

  it('that a router sums up is a summary, and what it has encrypted is kept', () => {
    const details = [
      { type: 'reasoning.summary', summary: 'so', index: 0 },
      { type: 'reasoning.encrypted', data: 'E', index: 0 },
    ];
    for (const [, shown] of ways) {
      const output = records(
        shown('chat', 'responses', answered({ reasoning_details: details }, 'stop')).output,
      );
      expect(output[0]).toMatchObject({ summary: [{ type: 'summary_text', text: 'so' }] });
      expect(output.some(({ encrypted_content: kept }) => kept === 'issuer:::encrypted:E')).toBe(true);
    }
  });
});

describe('a call without arguments', () => {
  it.each(ways)('has an object of none in every format: %s', (_how, shown) => {
    const call = { id: 'c1', type: 'function', function: { name: 'f' } };
    const answer = answered({ tool_calls: [call] }, 'tool_calls');
    expect(records(shown('chat', 'responses', answer).output)).toMatchObject([{ arguments: '{}' }]);
    expect(records(shown('chat', 'messages', answer).content)).toMatchObject([
      { type: 'tool_use', input: {} },
    ]);
    const message = recordOf(records(shown('chat', 'chat', answer).choices)[0]).message;
    expect(records(recordOf(message).tool_calls)).toMatchObject([
      { function: { name: 'f', arguments: '{}' } },
    ]);
  });
});
