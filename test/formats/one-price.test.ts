import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, modelOf, type ProviderKind } from './format-gateway.ts';
import { FORMATS } from './requests.ts';
import { namedEvent } from './wires.ts';

/* An answer costs the same whichever way it is read, also where it has parts that other formats have no place for. */

const CANCELS = ['stops_billing', 'bills_full'] as const;
type Cancel = (typeof CANCELS)[number];

let provider: RawProvider;
let gateways: Record<Cancel, TestGateway>;
beforeAll(async () => {
  provider = await startRawProvider();
  const start = (cancel: Cancel) =>
    startTestGateway({ yaml: formatYaml(provider.baseUrl, cancel, { all: 'openai' }) });
  gateways = { stops_billing: await start('stops_billing'), bills_full: await start('bills_full') };
});
afterAll(async () => {
  await gateways.stops_billing.stop();
  await gateways.bills_full.stop();
  await provider[Symbol.asyncDispose]();
});

const LONG = 'Rain by noon, "snow" by night. '.repeat(20);
const QUESTION = 'How is the weather?';
const PROMPT_TOKENS = Math.ceil(QUESTION.length / 4);
const PROMPT_NANO_USD = 123;
const COMPLETION_NANO_USD = 457;

interface Sent {
  kind: ProviderKind;
  /** Empty: a server that answers so is never read as a stream. */
  stream: string;
  whole: object;
}

const message = { id: 'm', type: 'message', role: 'assistant', model: 'm' };
const inMessages = (
  blocks: [begun: object, delta: object | null, whole: object][],
  usage?: object,
): Sent => ({
  kind: 'messages only',
  stream: [
    namedEvent('message_start', { message: { ...message, content: [], stop_reason: null, ...usage } }),
    ...blocks.flatMap(([content_block, delta], index) => [
      namedEvent('content_block_start', { index, content_block }),
      delta === null ? '' : namedEvent('content_block_delta', { index, delta }),
      namedEvent('content_block_stop', { index }),
    ]),
    namedEvent('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null } }),
    namedEvent('message_stop', {}),
  ].join(''),
  whole: { ...message, content: blocks.map(([, , whole]) => whole), stop_reason: 'end_turn', ...usage },
});

const yes = { type: 'text', text: 'Yes.' };
const yesBlock: [object, object, object] = [{ ...yes, text: '' }, { type: 'text_delta', text: 'Yes.' }, yes];
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' };

const response = { id: 'r', object: 'response', created_at: 1, model: 'm' };
const inResponses = (item: Record<string, unknown>, pieces: [type: string, members: object][]): Sent => ({
  kind: 'all formats',
  stream: [
    namedEvent('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
    ...pieces.map(([type, members]) => namedEvent(`response.${type}`, { output_index: 0, ...members })),
    namedEvent('response.completed', { response: { ...response, status: 'completed', output: [] } }),
  ].join(''),
  whole: { ...response, status: 'completed', output: [item] },
});

const patch = {
  id: 'p',
  type: 'apply_patch_call',
  call_id: 'c',
  status: 'completed',
  operation: { type: 'create_file', path: 'a.txt', diff: LONG },
};
const shell = {
  id: 's',
  type: 'shell_call',
  call_id: 'c',
  status: 'completed',
  action: { commands: [LONG], timeout_ms: null, max_output_length: null },
};
const click = {
  id: 'k',
  type: 'computer_call',
  call_id: 'c',
  status: 'completed',
  actions: [{ type: 'type', text: LONG }],
};
const custom = { id: 'c', type: 'custom', custom: { name: 'sh', input: LONG } };
const chatFrame = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };

const answers: [string, readonly FormatName[], Sent][] = [
  [
    'a call of a tool that the provider runs',
    FORMATS,
    inMessages([
      [
        { ...search, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify({ query: LONG }) },
        { ...search, input: { query: LONG } },
      ],
      yesBlock,
    ]),
  ],
  [
    'a summary of what was said',
    FORMATS,
    inMessages([
      [
        { type: 'compaction', content: null },
        { type: 'compaction_delta', content: LONG },
        { type: 'compaction', content: LONG },
      ],
      yesBlock,
    ]),
  ],
  [
    'the text of a custom tool',
    FORMATS,
    {
      kind: 'chat only',
      stream: [
        {
          index: 0,
          delta: { role: 'assistant', tool_calls: [{ index: 0, ...custom }] },
          finish_reason: null,
        },
        { index: 0, delta: {}, finish_reason: 'tool_calls' },
      ]
        .map((choice) => `data: ${JSON.stringify({ ...chatFrame, choices: [choice] })}\n\n`)
        .concat('data: [DONE]\n\n')
        .join(''),
      whole: {
        ...chatFrame,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [custom] },
            finish_reason: 'tool_calls',
          },
        ],
      },
    },
  ],
  [
    'a patch',
    ['responses'],
    inResponses(patch, [
      ['output_item.added', { item: { ...patch, operation: { ...patch.operation, diff: '' } } }],
      ['apply_patch_call_operation_diff.delta', { item_id: 'p', delta: LONG }],
      ['apply_patch_call_operation_diff.done', { item_id: 'p', diff: LONG }],
      ['output_item.done', { item: patch }],
    ]),
  ],
  [
    'commands of a shell',
    ['responses'],
    inResponses(shell, [
      ['output_item.added', { item: { ...shell, action: { ...shell.action, commands: [] } } }],
      ['shell_call_command.added', { command_index: 0, command: '' }],
      ['shell_call_command.delta', { command_index: 0, delta: LONG }],
      ['shell_call_command.done', { command_index: 0, command: LONG }],
      ['output_item.done', { item: shell }],
    ]),
  ],
  [
    'what a model types into a browser',
    ['responses'],
    inResponses(click, [
      ['output_item.added', { item: { ...click, actions: [] } }],
      ['output_item.done', { item: click }],
    ]),
  ],
];

async function chargedFor(sent: Sent, format: FormatName, stream: boolean, cancel: Cancel, isWhole: boolean) {
  provider.answers = isWhole ? plays(JSON.stringify(sent.whole), 'application/json') : plays(sent.stream);
  const gateway = gateways[cancel];
  const agent = await gateway.newAgent({ creditUsd: '1' });
  const said = [{ role: 'user', content: QUESTION }];
  const body =
    format === 'responses' ? { input: said, max_output_tokens: 900 } : { messages: said, max_tokens: 900 };
  const res = await gateway.post(
    { model: modelOf[sent.kind], stream, ...body },
    { path: pathOf(format), agent },
  );
  const text = await res.text();
  expect(res.status, text).toBe(200);
  return Number((await gateway.settled(agent)).chargedNanoUsd);
}

/** By every format, streamed or not, as an answer of whichever kind the server sends. */
async function chargesFor(sent: Sent, formats: readonly FormatName[]): Promise<number[]> {
  const charges = new Set<number>();
  for (const format of formats)
    for (const stream of [false, true])
      for (const cancel of CANCELS)
        for (const isWhole of [false, true]) {
          // A server that is asked for a whole answer does not stream it.
          if (!stream && !isWhole && cancel === 'bills_full') continue;
          if (sent.stream === '' && !isWhole) continue;
          charges.add(await chargedFor(sent, format, stream, cancel, isWhole));
        }
  return [...charges];
}

it.each(answers)('%s costs one price, whichever way it is read', async (_what, formats, sent) => {
  const charges = await chargesFor(sent, formats);
  expect(charges).toHaveLength(1);
  const [charged = 0] = charges;
  const tokens = (charged - PROMPT_TOKENS * PROMPT_NANO_USD) / COMPLETION_NANO_USD;
  expect(tokens).toBeGreaterThanOrEqual(Math.floor(LONG.length / 4));
  expect(tokens).toBeLessThan(LONG.length / 2);
});

it('a whole answer with a half of a record costs one price, also as a stream', async () => {
  const sent = inMessages([[yes, null, { type: 'text', text: LONG }]], { usage: { input_tokens: 30 } });
  expect(await chargesFor({ ...sent, stream: '' }, FORMATS)).toHaveLength(1);
});
