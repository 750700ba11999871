import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { formatUsd } from '#core/money.ts';
import { recordOf } from '../mcp/mcp-calls.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, modelOf, PROVIDER_KINDS, type ProviderKind } from './format-gateway.ts';
import { askedIn, eventsIn, FORMATS } from './requests.ts';
import { namedEvent } from './wires.ts';

/* Providers that count nothing, or nothing that can be true: one estimate of the same call, in whichever format it is read. */

const CANCELS = ['stops_billing', 'bills_full'] as const;
type Cancel = (typeof CANCELS)[number];

let provider: RawProvider;
let gateways: Record<Cancel, TestGateway>;
beforeAll(async () => {
  provider = await startRawProvider();
  const start = (cancel: Cancel) =>
    startTestGateway({
      yaml: formatYaml(provider.baseUrl, cancel, {
        all: 'openai',
        more: 'limits: { callsPerMinute: 60000, burst: 60000 }',
      }),
    });
  gateways = { stops_billing: await start('stops_billing'), bills_full: await start('bills_full') };
});
afterAll(async () => {
  await gateways.stops_billing.stop();
  await gateways.bills_full.stop();
  await provider[Symbol.asyncDispose]();
});

/** A conversation and the answer to it, in no format's words. */
interface Content {
  system: string;
  asked: string;
  found: string;
  thought: string[];
  text: string[];
  call: { name: string; input: Record<string, unknown> } | null;
}

const word = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
  fc.constant('a "b" \\ \n c'),
);
/** A message of blanks alone is refused where it is translated to messages. */
const said = word.filter((text) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(text));
const pieces = fc.array(word, { minLength: 1, maxLength: 4 });
const anyContent: fc.Arbitrary<Content> = fc.record<Content>({
  system: said,
  asked: said,
  found: said,
  thought: fc.array(word, { maxLength: 3 }),
  text: pieces,
  call: fc.option(
    fc.record({
      name: fc.constantFrom('f', 'look_up'),
      input: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.oneof(word, fc.integer()), { maxKeys: 2 }),
    }),
  ),
});

const SCHEMA = { type: 'object', properties: { at: { type: 'integer', description: 'Where.' } } };
const INPUT = { at: 1 };

function requestOf(
  format: FormatName,
  model: string,
  stream: boolean,
  showUsage: boolean,
  content: Content,
): object {
  const { system, asked, found } = content;
  const user = { role: 'user', content: asked };
  const tool = { name: 'look', description: 'Looks.' };
  switch (format) {
    case 'chat':
      return {
        model,
        stream,
        ...(stream && showUsage ? { stream_options: { include_usage: true } } : {}),
        messages: [
          { role: 'system', content: system },
          user,
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'look', arguments: JSON.stringify(INPUT) } },
            ],
          },
          { role: 'tool', tool_call_id: 'c', content: found },
        ],
        tools: [{ type: 'function', function: { ...tool, parameters: SCHEMA } }],
      };
    case 'responses':
      return {
        model,
        stream,
        instructions: system,
        input: [
          user,
          { type: 'function_call', call_id: 'c', name: 'look', arguments: '{ "at": 1 }' },
          { type: 'function_call_output', call_id: 'c', output: found },
        ],
        tools: [{ type: 'function', ...tool, parameters: SCHEMA }],
      };
    case 'messages':
      return {
        model,
        stream,
        max_tokens: 200,
        system: [{ type: 'text', text: system }],
        messages: [
          user,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: INPUT }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: found }] },
        ],
        tools: [{ ...tool, input_schema: SCHEMA }],
      };
  }
}

/** `usage`: a member to stand where the format has its record, with its comma; empty: none. */
type Write = (content: Content, usage: string) => string;

const chunk = (delta: object, finish: string | null = null, more = ''): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] }).slice(0, -1)}${more}}\n\n`;

const streams: Record<FormatName, Write> = {
  chat: ({ thought, text, call }, usage) =>
    [
      chunk({ role: 'assistant', content: '' }),
      ...thought.map((reasoning_content) => chunk({ reasoning_content })),
      ...text.map((content) => chunk({ content })),
      ...(call === null
        ? []
        : [
            chunk({
              tool_calls: [
                { index: 0, id: 'x', type: 'function', function: { name: call.name, arguments: '' } },
              ],
            }),
            ...[...JSON.stringify(call.input)].map((json) =>
              chunk({ tool_calls: [{ index: 0, function: { arguments: json } }] }),
            ),
          ]),
      chunk({}, 'stop', usage),
      'data: [DONE]\n\n',
    ].join(''),
  messages: ({ thought, text, call }, usage) => {
    const block = (index: number, begun: object, deltas: object[]): string =>
      namedEvent('content_block_start', { index, content_block: begun }) +
      deltas.map((delta) => namedEvent('content_block_delta', { index, delta })).join('') +
      namedEvent('content_block_stop', { index });
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
    };
    return [
      namedEvent('message_start', { message }),
      thought.length === 0
        ? ''
        : block(0, { type: 'thinking', thinking: '', signature: '' }, [
            ...thought.map((thinking) => ({ type: 'thinking_delta', thinking })),
            { type: 'signature_delta', signature: 'sig' },
          ]),
      block(
        1,
        { type: 'text', text: '' },
        text.map((each) => ({ type: 'text_delta', text: each })),
      ),
      call === null
        ? ''
        : block(2, { type: 'tool_use', id: 'x', name: call.name, input: {} }, [
            // With the blanks that a model writes, and others leave out.
            { type: 'input_json_delta', partial_json: JSON.stringify(call.input, null, 1) },
          ]),
      namedEvent('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null } }, usage),
      namedEvent('message_stop', {}),
    ].join('');
  },
  responses: (content, usage) => {
    const at = { output_index: 0, item_id: 'i', content_index: 0 };
    const { thought, text, call } = content;
    const created = {
      id: 'r',
      object: 'response',
      created_at: 1,
      status: 'in_progress',
      model: 'm',
      output: [],
    };
    const whole = JSON.stringify({ ...created, status: 'completed', output: outputOf(content) });
    return [
      namedEvent('response.created', { response: created }),
      ...thought.map((delta) => namedEvent('response.reasoning_text.delta', { ...at, delta })),
      ...text.map((delta, n) =>
        namedEvent('response.output_text.delta', { sequence_number: n, ...at, delta }),
      ),
      call === null
        ? ''
        : namedEvent('response.function_call_arguments.delta', {
            ...at,
            output_index: 2,
            delta: JSON.stringify(call.input),
          }),
      namedEvent('response.completed', {}, `,"response":${whole.slice(0, -1)}${usage}}`),
    ].join('');
  },
};

const outputOf = ({ thought, text, call }: Content): object[] => [
  ...(thought.length === 0
    ? []
    : [
        {
          id: 'rs',
          type: 'reasoning',
          summary: [],
          content: [{ type: 'reasoning_text', text: thought.join('') }],
        },
      ]),
  {
    id: 'i',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: text.join(''), annotations: [] }],
  },
  ...(call === null
    ? []
    : [
        {
          id: 'fc',
          type: 'function_call',
          call_id: 'x',
          name: call.name,
          arguments: JSON.stringify(call.input),
        },
      ]),
];

const wholes: Record<FormatName, Write> = {
  chat: ({ thought, text, call }, usage) => {
    const message = {
      role: 'assistant',
      content: text.join(''),
      ...(thought.length === 0 ? {} : { reasoning_content: thought.join('') }),
      ...(call === null
        ? {}
        : {
            tool_calls: [
              {
                id: 'x',
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.input) },
              },
            ],
          }),
    };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return `${JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }).slice(0, -1)}${usage}}`;
  },
  messages: ({ thought, text, call }, usage) => {
    const content = [
      ...(thought.length === 0 ? [] : [{ type: 'thinking', thinking: thought.join(''), signature: 'sig' }]),
      { type: 'text', text: text.join('') },
      ...(call === null ? [] : [{ type: 'tool_use', id: 'x', name: call.name, input: call.input }]),
    ];
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
    };
    return `${JSON.stringify(message).slice(0, -1)}${usage}}`;
  },
  responses: (content, usage) => {
    const whole = {
      id: 'r',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'm',
      output: outputOf(content),
    };
    return `${JSON.stringify(whole).slice(0, -1)}${usage}}`;
  },
};

interface Way {
  format: FormatName;
  kind: ProviderKind;
  stream: boolean;
  cancel: Cancel;
}

const ways: Way[] = FORMATS.flatMap((format) =>
  PROVIDER_KINDS.flatMap((kind) =>
    [false, true].flatMap((stream) => CANCELS.map((cancel) => ({ format, kind, stream, cancel }))),
  ),
);

/** One call, what it was charged, and the last record of usage that its caller was shown. */
async function callBy(way: Way, content: Content, usageIn: (asked: FormatName) => string) {
  const { format, kind, stream, cancel } = way;
  const gateway = gateways[cancel];
  const asked = askedIn(kind, format);
  const member = usageIn(asked);
  const usage = member === '' ? '' : `,"usage":${member}`;
  provider.answers =
    stream || cancel === 'stops_billing'
      ? plays(streams[asked](content, usage))
      : plays(wholes[asked](content, usage), 'application/json');
  const agent = await gateway.newAgent({ creditUsd: '1' });
  const res = await gateway.post(requestOf(format, modelOf[kind], stream, true, content), {
    path: pathOf(format),
    agent,
  });
  const text = await res.text();
  expect(res.status, text).toBe(200);
  const { chargedNanoUsd } = await gateway.settled(agent);
  const bodies: Record<string, unknown>[] = stream ? eventsIn(text) : [JSON.parse(text)];
  const shown = bodies
    .map(({ usage: own, response }) => own ?? Reflect.get(Object(response), 'usage'))
    .findLast((record) => Reflect.has(Object(record), 'cost'));
  const [call] = await gateway.calls(agent);
  return { chargedNanoUsd, shown: Object(shown), tokens: call?.tokens, key: agent.key };
}

const COUNTERS: Record<FormatName, [prompt: string, completion: string, total: string | null]> = {
  chat: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  responses: ['input_tokens', 'output_tokens', 'total_tokens'],
  messages: ['input_tokens', 'output_tokens', null],
};

/** In the words of the format that the provider is asked in. */
const counted = (prompt: string, completion: string) => (asked: FormatName) => {
  const [read, written] = COUNTERS[asked];
  return `{"${read}":${prompt},"${written}":${completion}}`;
};

const useless: [string, (asked: FormatName) => string][] = [
  ['no usage', () => ''],
  ['usage of nothing', () => '{}'],
  ['usage: null', () => 'null'],
  ['counts in fractions', counted('5.5', '7.25')],
  ['counts in words', counted('"five"', '"7.5"')],
  ['counts of zero', counted('0', '0')],
];

describe('a call that its provider does not count', () => {
  it.each(useless)(
    'costs the same by every format, streamed or not, translated or not, and shows what it was charged by: %s',
    async (_name, usageIn) => {
      await fc.assert(
        fc.asyncProperty(anyContent, async (content) => {
          const prices = new Set<bigint>();
          const counts = new Set<string>();
          for (const way of ways) {
            const { chargedNanoUsd, shown, tokens } = await callBy(way, content, usageIn);
            prices.add(chargedNanoUsd);
            const [prompt, completion, total] = COUNTERS[way.format];
            counts.add(`${shown[prompt]} ${shown[completion]}`);
            if (total !== null) expect(shown[total]).toBe(shown[prompt] + shown[completion]);
            expect(formatUsd(chargedNanoUsd)).toBe(formatUsd(BigInt(Math.round(shown.cost * 1e9))));
            expect(chargedNanoUsd).toBe(BigInt(shown[prompt] * 123 + shown[completion] * 457));
            expect([tokens?.prompt, tokens?.completion]).toEqual([shown[prompt], shown[completion]]);
          }
          expect([...prices]).toHaveLength(1);
          expect([...counts]).toHaveLength(1);
        }),
        { numRuns: 3 },
      );
    },
    120_000,
  );

  it.each<Way>([
    { format: 'messages', kind: 'chat only', stream: false, cancel: 'bills_full' },
    { format: 'responses', kind: 'chat only', stream: false, cancel: 'bills_full' },
    { format: 'chat', kind: 'all formats', stream: false, cancel: 'bills_full' },
  ])(
    'of an answer without a text is free, and shows that nothing was counted: $format by $kind',
    async (way) => {
      const content = { system: '', asked: 'q', found: '', thought: [], text: [], call: null };
      const { chargedNanoUsd, shown, tokens } = await callBy(way, content, () => '');
      const [prompt, completion] = COUNTERS[way.format];
      expect([chargedNanoUsd, shown.cost]).toEqual([0n, 0]);
      expect([shown[prompt], shown[completion]]).toEqual([0, 0]);
      expect(tokens).toMatchObject({ prompt: 0, completion: 0 });
    },
  );

  it('is estimated by its text, four bytes a token', async () => {
    const content = { system: '', asked: 'q', found: '', thought: [], text: ['hello ', 'world'], call: null };
    const way: Way = {
      format: 'chat',
      kind: 'all formats',
      stream: true,
      cancel: 'stops_billing',
    };
    const { shown } = await callBy(way, content, () => '');
    const toolBytes = 'look'.length + 'Looks.'.length + JSON.stringify(SCHEMA).length;
    const bytes = 'q'.length + 'look'.length + JSON.stringify(INPUT).length + toolBytes;
    expect([shown.prompt_tokens, shown.completion_tokens]).toEqual([Math.ceil(bytes / 4), 3]);
  });
});

it('a call that was priced by an estimate is counted as such, and marked in its events', async () => {
  const gateway = gateways.stops_billing;
  const estimated = () => gateway.metric('faregate_operator_loss_calls_total', { cause: 'price_estimated' });
  const content: Content = { system: 's', asked: 'q', found: 'f', thought: [], text: ['hi'], call: null };
  const way: Way = { format: 'responses', kind: 'chat only', stream: true, cancel: 'stops_billing' };
  const before = await estimated();
  await callBy(way, content, counted('5', '7'));
  expect(await estimated()).toBe(before);
  await callBy(way, content, () => '');
  await callBy(way, content, counted('5', '0'));
  expect(await estimated()).toBe(before + 2);
});

it('an agent sees over MCP that a call was estimated, and nothing of it where the provider counted', async () => {
  const { mcpUrl } = gateways.stops_billing.running;
  const content: Content = { system: 's', asked: 'q', found: 'f', thought: [], text: ['hi'], call: null };
  const way: Way = { format: 'messages', kind: 'chat only', stream: false, cancel: 'stops_billing' };
  const tokensOf = async (usageIn: (asked: FormatName) => string) => {
    const { key } = await callBy(way, content, usageIn);
    const { calls } = await recordOf({ mcpUrl, key }, 'list_calls');
    return calls.map((call: { tokens: object }) => call.tokens);
  };
  expect(await tokensOf(() => '')).toMatchObject([{ completion: 1, cached: 0, estimated: true }]);
  expect(await tokensOf(counted('5', '7'))).toEqual([
    { prompt: 5, completion: 7, reasoning: null, cached: 0 },
  ]);
});

describe('a count that contradicts what was delivered', () => {
  const content: Content = {
    system: 's',
    asked: 'q',
    found: 'f',
    thought: [],
    text: ['hello world'],
    call: null,
  };

  it.each(ways)(
    'gives way to the estimate, and the other stays: $format, $kind, $stream, $cancel',
    async (way) => {
      const [prompt, completion] = COUNTERS[way.format];
      const noAnswer = await callBy(way, content, counted('1000', '0'));
      expect([noAnswer.shown[prompt], noAnswer.shown[completion]]).toEqual([1_000, 3]);
      expect(noAnswer.chargedNanoUsd).toBe(1_000n * 123n + 3n * 457n);
      const noPrompt = await callBy(way, content, counted('0', '100'));
      expect(noPrompt.shown[completion]).toBe(100);
      expect(noPrompt.shown[prompt]).toBeGreaterThan(0);
      expect(noPrompt.chargedNanoUsd).toBe(BigInt(noPrompt.shown[prompt]) * 123n + 100n * 457n);
    },
  );
});
