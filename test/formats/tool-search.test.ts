import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { eventsOfResponse } from '../../api/inference/formats/events-of-response.ts';
import { recordOf, records, textOf } from '../../api/inference/formats/values.ts';
import { endpoint, model, noLinkRules, provider, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';
import { leftOutOf, sentTo, shownFor, user } from './ask.ts';
import { eventsIn } from './requests.ts';
import { type Answer, shownCollected, shownEvents, shownStream, shownWhole } from './shown-answers.ts';

/*
 * A search for tools that the caller runs itself, as Codex offers it: the model calls it, and the caller answers with the tools that
 * it found, which the model may call from then on.
 */

const ways = [
  ['streamed', shownStream],
  ['put together', shownCollected],
  ['whole', shownWhole],
] as const;

const parameters = {
  type: 'object',
  properties: { query: { type: 'string' }, limit: { type: 'number' } },
  required: ['query'],
  additionalProperties: false,
};
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters };
const create = {
  type: 'function',
  name: 'create_event',
  description: 'Creates an event.',
  strict: false,
  defer_loading: true,
  parameters: { type: 'object', properties: { title: { type: 'string' } } },
};
const calendar = { type: 'namespace', name: 'calendar', description: 'Plans.', tools: [create] };
const asked = { type: 'message', ...user };
const output = (tools: object[], callId = 'c0') => ({
  type: 'tool_search_output',
  call_id: callId,
  status: 'completed',
  execution: 'client',
  tools,
});

/** An answer of a chat server that calls this function. */
function calling(name: string, json: string, finishReason = 'tool_calls'): Answer {
  const call = { id: 'c0', type: 'function', function: { name, arguments: json } };
  return {
    events: [
      {
        id: 'a',
        choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: null }],
      },
      { id: 'a', choices: [{ index: 0, delta: {}, finish_reason: finishReason }] },
    ],
    whole: {
      id: 'a',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls: [call] },
          finish_reason: finishReason,
        },
      ],
    },
  };
}

/** The same of a server of the messages format. */
const callingInMessages = (name: string, input: object): Answer => ({
  events: [
    { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c0', name, input: {} } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ],
  whole: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'c0', name, input }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 2 },
  },
});

const outputOf = (answer: Record<string, unknown>) => records(answer.output);
const functionsIn = (body: Record<string, unknown>) =>
  records(body.tools).map(({ function: called }) => recordOf(called));

describe('a search for tools that the caller runs', () => {
  const body = { input: [asked], tools: [search] };
  const call = {
    id: expect.stringMatching(/^tsc_/),
    type: 'tool_search_call',
    call_id: 'c0',
    execution: 'client',
    arguments: { query: 'calendar', limit: 1 },
    status: 'completed',
  };

  it('is a function at a provider of another format', () => {
    expect(functionsIn(sentTo('responses', 'chat', body))).toEqual([
      expect.objectContaining({ name: 'tool_search', description: 'Finds tools.', parameters }),
    ]);
    expect(records(sentTo('responses', 'messages', body).tools)).toMatchObject([
      { name: 'tool_search', description: 'Finds tools.', input_schema: parameters },
    ]);
    expect(leftOutOf('responses', 'chat', body)).toEqual([]);
  });

  it.each(ways)('is called in the item that its clients run: %s', (_how, shown) => {
    const names = shownFor('responses', 'chat', body);
    const chat = calling('tool_search', '{"query":"calendar","limit":1}');
    expect(outputOf(shown('chat', 'responses', chat, names))).toEqual([call]);
    const messages = callingInMessages('tool_search', { query: 'calendar', limit: 1 });
    expect(outputOf(shown('messages', 'responses', messages, names))).toEqual([call]);
  });

  it('has no events for its arguments, because the item tells them', () => {
    const chat = calling('tool_search', '{"query":"calendar","limit":1}');
    const events = shownEvents('chat', 'responses', chat, shownFor('responses', 'chat', body)).map((event) =>
      recordOf(JSON.parse(event)),
    );
    const ofItem = events.filter(({ output_index: index }) => index === 0);
    expect(ofItem.map(({ type, item }) => [type, item])).toEqual([
      ['response.output_item.added', { ...call, arguments: {}, status: 'in_progress' }],
      ['response.output_item.done', call],
    ]);
  });

  it.each([
    ['no arguments', '', {}],
    ['long numbers', '{"limit":12345678901234567890}', '{"limit":12345678901234567890}'],
    ['text that is no JSON', 'calendar', 'calendar'],
    ['a list', '["calendar"]', '["calendar"]'],
  ])('is shown with %s as the model wrote it', (_what, json, expected) => {
    const names = shownFor('responses', 'chat', body);
    const events = shownEvents('chat', 'responses', calling('tool_search', json), names);
    const done = events.find((event) => event.includes('response.output_item.done')) ?? '';
    const text =
      typeof expected === 'string' && expected.startsWith('{') ? expected : JSON.stringify(expected);
    expect(done).toContain(`"arguments":${text}`);
  });

  it('is incomplete where the answer was cut within it', () => {
    const cut = calling('tool_search', '{"query":"cal', 'length');
    const [item] = outputOf(shownWhole('chat', 'responses', cut, shownFor('responses', 'chat', body)));
    expect(item).toMatchObject({
      type: 'tool_search_call',
      status: 'incomplete',
      arguments: '{"query":"cal',
    });
  });

  it('is told from a function of the same name', () => {
    const own = { type: 'function', name: 'tool_search', parameters: { type: 'object' } };
    for (const tools of [
      [search, own],
      [own, search],
    ]) {
      const both = { input: [asked], tools };
      const names = functionsIn(sentTo('responses', 'chat', both)).map(({ name }) => textOf(name));
      expect(new Set(names).size).toBe(2);
      expect(names[tools.indexOf(own)]).toBe('tool_search');
      const shown = shownFor('responses', 'chat', both);
      const [ofOwn] = outputOf(shownWhole('chat', 'responses', calling('tool_search', '{}'), shown));
      expect(ofOwn?.type).toBe('function_call');
      const found = calling(names[tools.indexOf(search)] ?? '', '{}');
      expect(outputOf(shownWhole('chat', 'responses', found, shown))[0]?.type).toBe('tool_search_call');
    }
  });

  it('may be chosen, alone or among others', () => {
    const other = { type: 'function', name: 'other', parameters: { type: 'object' } };
    const tools = [search, other];
    const chosen = sentTo('responses', 'chat', { input: 'x', tools, tool_choice: { type: 'tool_search' } });
    expect(chosen.tool_choice).toEqual({ type: 'function', function: { name: 'tool_search' } });
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'tool_search' }] };
    const some = sentTo('responses', 'chat', { input: 'x', tools, tool_choice: allowed });
    expect(functionsIn(some).map(({ name }) => name)).toEqual(['tool_search']);
  });
});

describe('a conversation in which a search found tools', () => {
  const first = { input: [asked], tools: [search] };
  const found = () => {
    const answer = calling('tool_search', '{"query":"calendar","limit":12345678901234567890}');
    const names = shownFor('responses', 'chat', first);
    return outputOf(shownStream('chat', 'responses', answer, names));
  };
  const second = () => ({ tools: [search], input: [asked, ...found(), output([calendar])] });

  it('goes on at a chat server with the call, its result and the tools', () => {
    const sent = sentTo('responses', 'chat', second());
    expect(functionsIn(sent).map(({ name }) => name)).toEqual(['tool_search', 'calendar__create_event']);
    const [, called, result] = records(sent.messages);
    expect(records(called?.tool_calls)).toMatchObject([{ id: 'c0', function: { name: 'tool_search' } }]);
    expect(result).toMatchObject({ role: 'tool', tool_call_id: 'c0' });
    expect(JSON.stringify(result)).toContain('calendar__create_event');
  });

  it('goes on at a server of the messages format', () => {
    const sent = sentTo('responses', 'messages', second());
    expect(records(sent.tools).map(({ name }) => name)).toEqual(['tool_search', 'calendar__create_event']);
    const [, called, result] = records(sent.messages);
    expect(records(called?.content)).toMatchObject([{ type: 'tool_use', id: 'c0', name: 'tool_search' }]);
    expect(records(result?.content)).toMatchObject([{ type: 'tool_result', tool_use_id: 'c0' }]);
  });

  it('keeps the digits of the arguments', () => {
    const item =
      '{"type":"tool_search_call","call_id":"c0","execution":"client","arguments":{"limit":12345678901234567890}}';
    const body = `{"model":"acme/chat","input":[{"role":"user","content":"x"},${item},${JSON.stringify(output([]))}],"tools":[${JSON.stringify(search)}]}`;
    expect(bodiesOf(body)[0]).toContain('12345678901234567890');
  });

  it('lets the model call what was found, in the caller’s own words', () => {
    const answer = calling('calendar__create_event', '{"title":"x"}');
    const shown = shownFor('responses', 'chat', second());
    expect(outputOf(shownStream('chat', 'responses', answer, shown))).toMatchObject([
      { type: 'function_call', name: 'create_event', namespace: 'calendar', arguments: '{"title":"x"}' },
    ]);
  });

  it('says that nothing was found', () => {
    const sent = sentTo('responses', 'chat', { tools: [search], input: [asked, ...found(), output([])] });
    expect(JSON.stringify(records(sent.messages)[2])).toContain('No tools were found');
  });

  it('goes on where the next request no longer offers the search', () => {
    const { tools: _, ...rest } = second();
    const sent = sentTo('responses', 'chat', rest);
    expect(functionsIn(sent).map(({ name }) => name)).toEqual(['calendar__create_event']);
    expect(records(records(sent.messages)[1]?.tool_calls)).toMatchObject([
      { function: { name: 'tool_search' } },
    ]);
  });

  it('keeps the tools where the client has dropped the call', () => {
    const sent = sentTo('responses', 'messages', { input: [asked, output([calendar])] });
    expect(JSON.stringify(sent.messages)).not.toContain('tool_result');
    expect(records(sent.tools).map(({ name }) => name)).toEqual(['calendar__create_event']);
  });

  it('keeps the tools of a search that a provider ran, without a call that nobody can answer', () => {
    const call = {
      type: 'tool_search_call',
      call_id: null,
      execution: 'server',
      arguments: { paths: ['a'] },
    };
    const result = { ...output([calendar]), call_id: null, execution: 'server' };
    const sent = sentTo('responses', 'chat', { input: [asked, call, result] });
    expect(records(sent.messages)).toHaveLength(1);
    expect(functionsIn(sent).map(({ name }) => name)).toEqual(['calendar__create_event']);
  });
});

const catalog = testCatalog({
  models: [model(), model({ id: 'acme/chat', endpoints: [endpoint({ providerId: 'chat' })] })],
  providers: [provider(), provider({ id: 'chat', formats: ['chat'] })],
});

const admit = (body: string, format: 'chat' | 'responses' = 'responses') =>
  admitCall(callFormats[format], Buffer.from(body), 'active', {
    catalog,
    health: plainHealth(),
    links: noLinkRules,
  });

/** The bodies that the candidates of a request are sent. */
function bodiesOf(body: string): string[] {
  const admitted = admit(body);
  if (!admitted.ok) throw new Error(`${admitted.error.code}: ${admitted.error.message}`);
  const { plan } = admitted;
  return plan.candidates.map((each) =>
    runAtOnce(
      each.format.buildBody(each.translated === null ? plan : { ...plan, body: each.translated }, each, 7),
    ).toString(),
  );
}

describe('a search for tools at a provider that speaks responses', () => {
  it('passes as it was sent, with its calls and what it found', () => {
    const call = {
      type: 'tool_search_call',
      id: 'tsc_1',
      call_id: 'c0',
      execution: 'client',
      arguments: { query: 'x' },
      status: 'completed',
    };
    const body = {
      model: 'acme/small',
      input: [asked, call, output([calendar])],
      tools: [search, create],
      tool_choice: { type: 'tool_search' },
    };
    const [sent = '{}'] = bodiesOf(JSON.stringify(body));
    const { model: _, ...rest } = body;
    expect(JSON.parse(sent)).toMatchObject(rest);
    expect(sent).toContain(JSON.stringify(body.input));
    expect(sent).toContain(JSON.stringify(body.tools));
  });

  it('is priced as a tool of the caller: nothing is held for a tool of the provider', () => {
    const admitted = admit(JSON.stringify({ model: 'acme/small', input: 'x', tools: [search] }));
    expect(admitted.ok && admitted.plan.candidates.map(({ serverTools }) => serverTools)).toEqual([null]);
  });

  it.each([
    ['says nothing of who runs it', {}],
    ['names the provider', { execution: 'server' }],
    ['names the caller in other letters', { execution: 'Client' }],
    ['names a list', { execution: ['client'] }],
  ])('is refused where it %s, with the word that is missing', (_what, execution) => {
    const tool = { type: 'tool_search', description: 'x', ...execution };
    for (const id of ['acme/small', 'acme/chat']) {
      for (const body of [
        { tools: [tool] },
        { input: [{ ...output([tool]) }], tools: [search] },
        { input: [{ type: 'additional_tools', role: 'developer', tools: [tool] }] },
      ]) {
        const admitted = admit(JSON.stringify({ model: id, input: 'x', ...body }));
        expect(admitted).toMatchObject({
          ok: false,
          error: { code: 'tool_not_served', message: expect.stringContaining('"execution": "client"') },
        });
      }
    }
  });

  it.each([
    ['in a chat, which has no such tool', 'chat', { tools: [search] }],
    [
      'chosen where the list does not have it',
      'responses',
      { tool_choice: { type: 'tool_search', execution: 'client' } },
    ],
    [
      'allowed where the list does not have it',
      'responses',
      { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'tool_search' }] } },
    ],
  ] as const)('is refused %s', (_where, format, extra) => {
    const said = format === 'chat' ? { messages: [user] } : { input: 'x' };
    const admitted = admit(JSON.stringify({ model: 'acme/small', ...said, ...extra }), format);
    expect(admitted).toMatchObject({ ok: false, error: { code: 'tool_not_served' } });
  });
});

describe('the item of a call', () => {
  it('begins without its arguments, also where a provider sent its answer whole', () => {
    const item = { id: 'tsc_1', type: 'tool_search_call', call_id: 'c0', execution: 'client' };
    const done = { ...item, status: 'completed', arguments: { query: 'x' } };
    const events = eventsIn(eventsOfResponse({ id: 'r', status: 'completed', output: [done] }).toString());
    expect(events.filter(({ output_index: index }) => index === 0).map((event) => event.item)).toEqual([
      { ...item, status: 'in_progress', arguments: {} },
      done,
    ]);
  });

  it('has an id that begins as OpenAI wants it back in its type', () => {
    const custom = { type: 'custom', name: 'patch', format: { type: 'text' } };
    const body = { input: [asked], tools: [search, custom, create] };
    const names = shownFor('responses', 'chat', body);
    const idOf = (name: string): string =>
      textOf(outputOf(shownWhole('chat', 'responses', calling(name, '{"input":"x"}'), names))[0]?.id);
    expect(idOf('patch')).toMatch(/^ctc_/);
    expect(idOf('tool_search')).toMatch(/^tsc_/);
    expect(idOf('create_event')).toMatch(/^fc_/);
  });
});
