import { describe, expect, it } from 'vitest';
import { eventsOfResponse } from '../../api/inference/formats/events-of-response.ts';
import { recordOf, records, textOf } from '../../api/inference/formats/values.ts';
import { AnswerText, addResponses } from '../../api/inference/price/answer-text.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { admitted, at, leftOut, refusal, sent } from '../inference/at-dialect.ts';
import { model, provider, testCatalog } from '../inference/support.ts';
import { leftOutOf, sentTo, shownFor, user } from './ask.ts';
import { eventsIn } from './requests.ts';
import { type Answer, shownCollected, shownEvents, shownStream, shownWhole } from './shown-answers.ts';

/*
 * Shells and patches that the caller runs, which the responses format has types of their own for. The shapes are those of OpenAI's SDK
 * (`FunctionShellTool`, `Tool.LocalShell`, `ApplyPatchTool` and the items of their calls).
 */

const ways = [
  ['streamed', shownStream],
  ['put together', shownCollected],
  ['whole', shownWhole],
] as const;

const shell = { type: 'shell', environment: { type: 'local' } };
const localShell = { type: 'local_shell' };
const applyPatch = { type: 'apply_patch' };
const body = { input: [user], tools: [shell, localShell, applyPatch] };

/** An answer of a chat server that calls this function. */
function calling(name: string, json: string, finishReason = 'tool_calls'): Answer {
  const call = { id: 'c0', type: 'function', function: { name, arguments: json } };
  const end = { index: 0, finish_reason: finishReason };
  return {
    events: [
      { id: 'a', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] },
      { id: 'a', choices: [{ ...end, delta: {} }] },
    ],
    whole: { id: 'a', choices: [{ ...end, message: { role: 'assistant', tool_calls: [call] } }] },
  };
}

const itemsOf = (answer: Record<string, unknown>) => records(answer.output);
const functionsIn = (request: Record<string, unknown>) =>
  records(request.tools).map(({ function: called }) => recordOf(called));
const names = shownFor('responses', 'chat', body);

const operation = { type: 'update_file', path: 'a.py', diff: '@@\n-a\n+b\n' };
const calls = [
  {
    name: 'shell',
    args: { commands: ['ls -a', 'pwd'], timeout_ms: 5_000 },
    item: {
      id: expect.stringMatching(/^sh_/),
      type: 'shell_call',
      call_id: 'c0',
      action: { commands: ['ls -a', 'pwd'], timeout_ms: 5_000, max_output_length: null },
      environment: { type: 'local' },
      status: 'completed',
    },
  },
  {
    name: 'local_shell',
    args: { command: ['ls', '-a'], working_directory: '/tmp' },
    item: {
      id: expect.stringMatching(/^lsh_/),
      type: 'local_shell_call',
      call_id: 'c0',
      action: {
        type: 'exec',
        command: ['ls', '-a'],
        env: {},
        timeout_ms: null,
        user: null,
        working_directory: '/tmp',
      },
      status: 'completed',
    },
  },
  {
    name: 'apply_patch',
    args: { operation },
    item: {
      id: expect.stringMatching(/^apc_/),
      type: 'apply_patch_call',
      call_id: 'c0',
      operation,
      status: 'completed',
    },
  },
];

describe('shells and patches that the caller runs, at a provider of another format', () => {
  it('are functions', () => {
    const functions = functionsIn(sentTo('responses', 'chat', body));
    expect(functions.map(({ name, parameters }) => [name, recordOf(parameters).required])).toEqual([
      ['shell', ['commands']],
      ['local_shell', ['command']],
      ['apply_patch', ['operation']],
    ]);
    expect(records(sentTo('responses', 'messages', body).tools).map(({ name }) => name)).toEqual([
      'shell',
      'local_shell',
      'apply_patch',
    ]);
    expect(leftOutOf('responses', 'chat', body)).toEqual([]);
  });

  it('tell the model of the skills that the caller has for a shell', () => {
    const skills = [{ name: 'pdf', description: 'Reads PDFs.', path: '/skills/pdf' }];
    const tools = [{ type: 'shell', environment: { type: 'local', skills } }];
    const [written] = functionsIn(sentTo('responses', 'chat', { input: [user], tools }));
    expect(textOf(written?.description)).toContain('pdf: Reads PDFs. (/skills/pdf)');
  });

  describe.each(ways)('%s', (_how, shown) => {
    it.each(calls)('are called in the item that clients run: $name', ({ name, args, item }) => {
      const answer = calling(name, JSON.stringify(args));
      expect(itemsOf(shown('chat', 'responses', answer, names))).toEqual([item]);
    });

    it.each(calls)('ask for nothing where the answer was cut within $name', ({ name, args, item }) => {
      const cut = calling(name, JSON.stringify(args).slice(0, -4), 'length');
      const [written] = itemsOf(shown('chat', 'responses', cut, names));
      expect(written).toMatchObject({ type: item.type });
      expect(written?.status).not.toBe('completed');
      const { commands, command } = recordOf(written?.action);
      expect([commands ?? command ?? [], textOf(recordOf(written?.operation).path)]).toEqual([[], '']);
    });
  });

  it.each<[string, string, object]>([
    ['a text for the commands', '{"commands":"ls"}', { action: { commands: ['ls'] } }],
    ['text that is no JSON', 'ls', { action: { commands: [] } }],
  ])('show a shell that is called with %s', (_what, json, item) => {
    expect(itemsOf(shownWhole('chat', 'responses', calling('shell', json), names))).toMatchObject([item]);
  });

  it.each<[string, string, object]>([
    [
      'a file to delete',
      '{"operation":{"type":"delete_file","path":"a"}}',
      { type: 'delete_file', path: 'a' },
    ],
    ['its members alone', JSON.stringify(operation), operation],
    ['text that is no JSON', '*** Begin', { type: 'update_file', path: '', diff: '*** Begin' }],
  ])('show a patch that is called with %s', (_what, json, expected) => {
    const [item] = itemsOf(shownWhole('chat', 'responses', calling('apply_patch', json), names));
    expect(item?.operation).toEqual(expected);
  });

  it('stream the diff of a patch before its item is done', () => {
    const events = shownEvents(
      'chat',
      'responses',
      calling('apply_patch', JSON.stringify({ operation })),
      names,
    )
      .map((event) => recordOf(JSON.parse(event)))
      .filter(({ output_index: index }) => index === 0);
    expect(events.map(({ type, delta, diff }) => [type, delta ?? diff])).toEqual([
      ['response.output_item.added', undefined],
      ['response.apply_patch_call_operation_diff.delta', operation.diff],
      ['response.apply_patch_call_operation_diff.done', operation.diff],
      ['response.output_item.done', undefined],
    ]);
  });

  it('are told from functions and tools of a text with the same names', () => {
    const own = { type: 'custom', name: 'apply_patch' };
    const both = { input: [user], tools: [applyPatch, own] };
    const [first, second] = functionsIn(sentTo('responses', 'chat', both)).map(({ name }) => textOf(name));
    expect(second).toBe('apply_patch');
    expect(first).not.toBe(second);
    const shown = shownFor('responses', 'chat', both);
    const typeOf = (name = '') =>
      itemsOf(shownWhole('chat', 'responses', calling(name, '{"input":"x"}'), shown))[0]?.type;
    expect([typeOf(first), typeOf(second)]).toEqual(['apply_patch_call', 'custom_tool_call']);
  });

  it('may be chosen, alone or among others', () => {
    const chosen = sentTo('responses', 'chat', { ...body, tool_choice: { type: 'apply_patch' } });
    expect(chosen.tool_choice).toEqual({ type: 'function', function: { name: 'apply_patch' } });
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }] };
    const some = sentTo('responses', 'chat', { ...body, tool_choice: allowed });
    expect(functionsIn(some).map(({ name }) => name)).toEqual(['shell']);
  });
});

describe('a conversation in which the caller ran shells and patches', () => {
  const exit = (code: number) => ({ type: 'exit', exit_code: code });
  const input = [
    user,
    { ...calls[0]?.item, id: 'sh_1', call_id: 'c1' },
    {
      type: 'shell_call_output',
      call_id: 'c1',
      max_output_length: 20,
      output: [
        { stdout: 'a.py', stderr: '', outcome: exit(0) },
        { stdout: 'x'.repeat(90), stderr: 'no', outcome: { type: 'timeout' } },
      ],
    },
    { ...calls[1]?.item, id: 'lsh_1', call_id: 'c2' },
    { type: 'local_shell_call_output', id: 'lsh_1', output: 'b.py' },
    { ...calls[2]?.item, id: 'apc_1', call_id: 'c3' },
    { type: 'apply_patch_call_output', call_id: 'c3', status: 'completed' },
  ];

  it('goes on with calls of functions and their results', () => {
    const { messages } = sentTo('responses', 'chat', { ...body, input });
    const [, first, ran, second, listed, third, patched] = records(messages);
    const callIn = (message: Record<string, unknown> | undefined) =>
      recordOf(records(message?.tool_calls)[0]?.function);
    expect(callIn(first)).toEqual({ name: 'shell', arguments: JSON.stringify(calls[0]?.args) });
    expect(JSON.parse(textOf(callIn(second).arguments))).toEqual(calls[1]?.args);
    expect(callIn(third)).toEqual({ name: 'apply_patch', arguments: JSON.stringify({ operation }) });
    expect(textOf(ran?.content)).toMatch(/^a\.py\nexit [\s\S]*characters are left out[\s\S]*timed out$/);
    expect(listed).toMatchObject({ tool_call_id: 'c2', content: 'b.py' });
    expect(patched).toMatchObject({ tool_call_id: 'c3', content: 'The patch was applied.' });
  });

  it('tells every command’s output and how it ended', () => {
    const output = [
      { stdout: 'one', stderr: '', outcome: exit(0) },
      { stdout: '', stderr: 'no', outcome: exit(2) },
    ];
    const said = [input[0], input[1], { type: 'shell_call_output', call_id: 'c1', output }];
    const { messages } = sentTo('responses', 'messages', { ...body, input: said });
    expect(records(records(messages)[2]?.content)).toMatchObject([
      { content: [{ text: 'one\nexit code: 0\n\nstderr:\nno\nexit code: 2' }] },
    ]);
  });
});

describe('shells that the caller runs, at a provider that speaks responses', () => {
  const openai = at(dialects.openai, ['chat', 'responses']);
  const tools = [shell, localShell, applyPatch];

  it('pass as they were sent, with their calls', () => {
    const input = [
      user,
      { ...calls[0]?.item, id: 'sh_1' },
      { type: 'shell_call_output', call_id: 'c0', output: [] },
    ];
    expect(sent('responses', { input, tools }, openai)).toMatchObject({ input, tools });
    expect(leftOut('responses', { input, tools }, openai)).toEqual([]);
  });

  it('say that the caller runs them where the request leaves it open', () => {
    expect(sent('responses', { input: 'x', tools: [{ type: 'shell' }] }, openai).tools).toEqual([shell]);
  });

  it.each([
    ['a shell', { tools: [shell] }],
    ['a local shell', { tools: [localShell] }],
    ['an earlier call', { input: [user, { ...calls[0]?.item, id: 'sh_1' }] }],
  ])('are functions where the server would run them itself, or ignore them: %s', (_what, extra) => {
    const router = testCatalog({ models: [model()], providers: [provider()] });
    const own = at(dialects.vllm, ['chat', 'responses']);
    for (const catalog of [router, own]) {
      const request = { input: [user], tools: [], ...extra };
      const text = JSON.stringify(sent('responses', request, catalog));
      expect(text).toContain('"messages"');
      expect(text).not.toMatch(/"type":"(local_)?shell/);
    }
    expect(providerKinds.openrouter.capabilities.routesBetweenVendors).toBe(true);
  });

  it.each<[string, object, string]>([
    [
      'a container',
      { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
      'tool_not_served tools[0]',
    ],
    [
      'a container that is there already',
      { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'x' } }] },
      'tool_not_served tools[0]',
    ],
    [
      'an item that does not say who runs it',
      { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'shell' }] }] },
      'tool_not_served input[0].tools[0]',
    ],
    [
      'a call in a container',
      {
        input: [
          {
            type: 'shell_call',
            call_id: 'c',
            action: { commands: [] },
            environment: { type: 'container_reference' },
          },
        ],
      },
      'invalid_request input[0].environment',
    ],
  ])('are refused in %s', (_what, extra, expected) => {
    expect(refusal('responses', { input: 'x', ...extra }, openai)).toBe(expected);
  });

  it('hear which word is missing', () => {
    const container = { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] };
    const result = admitted('responses', { input: 'x', ...container }, openai);
    expect(result.ok ? '' : result.error.message).toContain('"environment": {"type": "local"}');
  });

  it.each(calls)('are counted where their provider counts nothing: $name', ({ item, args }) => {
    const text = new AnswerText();
    addResponses(text, { output: [{ ...item, id: 'x' }] });
    expect(text.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(JSON.stringify(Object.values(args)[0])));
  });

  it('begin without their commands where a provider sent its answer whole', () => {
    const action = { commands: ['ls'], timeout_ms: null, max_output_length: null };
    const done = { id: 'sh_1', type: 'shell_call', call_id: 'c0', action, status: 'completed' };
    const events = eventsIn(eventsOfResponse({ id: 'r', status: 'completed', output: [done] }).toString());
    expect(events.filter(({ output_index: index }) => index === 0).map((event) => event.item)).toEqual([
      { ...done, action: { ...action, commands: [] }, status: 'in_progress' },
      done,
    ]);
  });
});
