import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sdkLanguages } from '../../openapi/sdk/sdk-language.ts';
import { blocksOf } from '../docs/blocks-of.ts';
import { showMarket } from '../market/shown-market.ts';
import { chargedUsd, startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { missingForSdk, type PreparedTour, prepareTour, type TourLine } from './prepared-tour.ts';
import { type Behaviour, type CannedAnswer, startStandIn } from './stand-in.ts';

const OPERATIONS = ['balance', 'chat', 'stream', 'message', 'refusal', 'upload', 'video', 'calls', 'book'];
const blockLanguage = { typescript: 'ts', python: 'python', go: 'go' } as const;
/** What a tour asks for, but for the addresses that it is told. */
const REQUESTS = [
  ...['GET /balance', 'POST /chat/completions', 'POST /messages', 'POST /uploads', 'POST /videos'],
  ...['POST /mcp', 'GET /dex/markets'],
];
const PAID = ['chat', 'stream', 'message', 'video'];

const json = { 'content-type': 'application/json' };

const limited: CannedAnswer = {
  status: 429,
  headers: { ...json, 'retry-after': '1', 'retry-after-ms': '20' },
  body: '{"error":{"message":"Too fast.","type":"rate_limit_error","code":"rate_limited","param":null}}',
};

const busy: CannedAnswer = {
  status: 529,
  headers: { ...json, 'retry-after': '1', 'retry-after-ms': '20' },
  body: '{"type":"error","error":{"type":"overloaded_error","message":"The model is at capacity.","code":"model_busy"}}',
};

function page(status: number): CannedAnswer {
  return { status, headers: { 'content-type': 'text/html' }, body: '<html><h1>Bad Gateway</h1></html>' };
}

const answered = (body: string): CannedAnswer => ({ status: 200, headers: json, body });

/** A stream of these events, whole where the last is `[DONE]`. */
const streamed = (...events: string[]): CannedAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((data) => `data: ${data}\n\n`).join(''),
});

const chunk = (content: string): string =>
  `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}]}`;

const NO_CHOICE =
  '{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0,"total_tokens":1,"cost":0}}';

const half: CannedAnswer = { status: 200, headers: json, body: '{"id":"msg_1","conte' };
const hungUp: CannedAnswer = { ...half, headers: { ...json, 'content-length': '500' }, isCut: true };

/** As each language's own client says it. */
const CUT = /terminated|incomplete|unexpected EOF|without sending complete/i;

let gateway: TestGateway;
let folder: string;
let shown: Awaited<ReturnType<typeof showMarket>>;
/** Operation by operation, what each language was shown. */
const table: Record<string, Record<string, string>> = {};

beforeAll(async () => {
  gateway = await startTestGateway();
  shown = await showMarket(gateway.running.deps.store.markets, 'sdk', 400);
  await until(async () =>
    (await (await fetch(`${gateway.baseUrl}/dex/markets`)).text()).includes(shown.market),
  );
  await mkdir('.cache', { recursive: true });
  // Inside the checkout, where the types of Node are found.
  folder = await mkdtemp(join(process.cwd(), '.cache', 'sdk-'));
});
afterAll(async () => {
  console.table(table);
  await shown[Symbol.asyncDispose]();
  await gateway.stop();
  await rm(folder, { recursive: true });
});

describe.each(sdkLanguages)('the generated client of %s', (language) => {
  const reason = missingForSdk(language);
  if (reason !== null) console.warn(`\nSKIPPED: every test of the SDK for ${language}. ${reason}\n`);
  let tour: PreparedTour;

  beforeAll(async () => {
    if (reason === null) tour = await prepareTour(language, join(folder, language));
  });

  /** Every operation, or those that are named, of an agent of its own, against something that stands between. */
  async function tourBehind(behaviour: Behaviour, ...operations: string[]) {
    const agent = await gateway.newAgent();
    await using standIn = await startStandIn(gateway.baseUrl, behaviour);
    const toured = await tour.run({ baseUrl: standIn.baseUrl, key: agent.key }, ...operations);
    return { ...toured, agent, asked: standIn.asked };
  }

  it.skipIf(reason !== null)('does every operation, for exactly what the ledger charges', async () => {
    const agent = await gateway.newAgent();
    const { code, lines, errors } = await tour.run({ baseUrl: gateway.baseUrl, key: agent.key });
    for (const line of lines)
      table[line.operation] = { ...table[line.operation], [language]: summaryOf(line) };
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(lines).toMatchObject([
      { operation: 'balance', spendable_usd: '5', agent_status: 'active' },
      { operation: 'chat', text: expect.stringContaining('No model ran') },
      { operation: 'stream', text: expect.stringContaining('Count to three') },
      { operation: 'message', text: expect.stringContaining('No model ran') },
      { operation: 'refusal', codes: ['unknown_model', 'insufficient_balance'] },
      { operation: 'upload', put: 200, size: 70 },
      { operation: 'video', id: expect.stringMatching(/^vid_/), bytes: expect.any(Number) },
      // Two a page: of the three calls of models, and the video.
      { operation: 'calls', pages: 2, calls: 4 },
      { operation: 'book', market: shown.market, seq: 7, best_bid: '0.85' },
    ]);
    for (const line of lines) if (PAID.includes(line.operation)) expect(line.cost).toBeGreaterThan(0);
    expect(shownNanoUsd(lines)).toBe((await gateway.settled(agent)).chargedNanoUsd);
  });

  it.skipIf(reason !== null)('says which operations there are to one that it does not have', async () => {
    const { code, lines, errors } = await tourBehind({}, 'toString', 'balance');
    expect({ code, errors }).toEqual({
      code: 1,
      errors: `There is no toString. There are: ${OPERATIONS.join(', ')}.\n`,
    });
    expect(lines).toMatchObject([{ operation: 'balance' }]);
  });

  it.skipIf(reason !== null)(
    'says what is wrong with a key, in the words of whoever refuses it',
    async () => {
      const { code, errors } = await tour.run(
        { baseUrl: gateway.baseUrl, key: 'fg_mistyped' },
        'balance',
        'calls',
      );
      const why = 'Invalid API key: ';
      expect(errors.split('\n')).toEqual([
        expect.stringContaining(`balance failed: HTTP 401 invalid_api_key: ${why}`),
        expect.stringContaining(`calls failed: HTTP 401 invalid_token: ${why}`),
        '',
      ]);
      expect(code).toBe(1);
    },
  );

  it.skipIf(reason !== null)('asks for the key that it was not given', async () => {
    const { code, errors } = await tour.run({ baseUrl: gateway.baseUrl, key: '' }, 'balance');
    expect({ code, errors }).toEqual({ code: 1, errors: 'Set FAREGATE_KEY to a key of yours.\n' });
  });

  it.skipIf(reason !== null)('says that nobody answers where no gateway runs', async () => {
    const gone = await startStandIn(gateway.baseUrl, {});
    await gone[Symbol.asyncDispose]();
    const { errors } = await tour.run({ baseUrl: gone.baseUrl, key: 'fg_any' }, 'balance');
    expect(errors).toMatch(/^balance failed: [^\n]*refused[^\n]*\n$/i);
  });

  it.skipIf(reason !== null)('goes on behind an answer without a choice', async () => {
    const answers = { 'POST /chat/completions': () => answered(NO_CHOICE) };
    const { lines, errors } = await tourBehind({ answers }, 'chat', 'balance');
    expect(errors).toMatch(/^(chat failed: [^\n]+\n)?$/);
    expect(lines.at(-1)).toMatchObject({ operation: 'balance' });
  });

  it.skipIf(reason !== null)('makes a paid call as openapi/README.md says', async () => {
    const agent = await gateway.newAgent();
    const source = blocksOf('openapi/README.md', blockLanguage[language])[0] ?? '';
    const printed = await tour.runProgram({ baseUrl: gateway.baseUrl, key: agent.key }, source);
    expect(Number(printed)).toBe(Number(chargedUsd(await gateway.settled(agent))));
    expect(Number(printed)).toBeGreaterThan(0);
  });

  it.skipIf(reason !== null)('gets on with fields and values that a later release adds', async () => {
    const { code, lines, errors, agent } = await tourBehind({ change: { fields: true, values: true } });
    // Whoever branches on codes of errors has nothing for a new one but its status and its words.
    expect(errors).toMatch(/^refusal failed: HTTP 400 added_later: [^\n]+\n$/);
    expect(code).toBe(1);
    expect(lines.map(({ operation }) => operation)).toEqual(OPERATIONS.filter((each) => each !== 'refusal'));
    expect(lines[0]).toMatchObject({ agent_status: 'added_later' });
    expect(shownNanoUsd(lines)).toBe((await gateway.settled(agent)).chargedNanoUsd);
  });

  it.skipIf(reason !== null)('gets on where all that may be null is null', async () => {
    const { code, lines, errors } = await tourBehind({ change: { nulls: true } });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(lines.map(({ operation }) => operation)).toEqual(OPERATIONS);
    expect(lines[1]).not.toMatchObject({ text: expect.any(String) });
  });

  it.skipIf(reason !== null)('waits as long as a 429 and a 529 say, and asks again', async () => {
    const once = (answer: CannedAnswer) => (time: number) => (time === 1 ? answer : null);
    const answers = { 'POST /chat/completions': once(limited), 'POST /messages': once(busy) };
    const { code, lines, errors, asked } = await tourBehind({ answers }, 'chat', 'message');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(lines.map(({ operation }) => operation)).toEqual(['chat', 'message']);
    expect(asked.filter((each) => each === 'POST /messages')).toHaveLength(2);
    expect(asked.filter((each) => each === 'POST /chat/completions')).toHaveLength(2);
  });

  it.skipIf(reason !== null).each([
    ['a busy model, of the messages format', busy, /HTTP 529 model_busy: The model is at capacity\.$/],
    [
      "a proxy's text",
      { ...answered('ok'), headers: { 'content-type': 'text/plain' } },
      /HTTP 200: not an answer of the gateway, but text\/plain$/,
    ],
    [
      'an answer without a body',
      { status: 204, headers: {}, body: '' },
      /HTTP 204: not an answer of the gateway, but something without a type$/,
    ],
    ['an error that is a text', { ...answered('{"error":"bad"}'), status: 400 }, /HTTP 400: not an answer/],
    ['a body that ends in the middle', half, /json|end of file|unterminated/i],
    ['a connection that ends in the middle', hungUp, CUT],
  ])('tells in a sentence of %s', async (_, answer, sentence) => {
    const { code, lines, errors } = await tourBehind(
      { answers: { 'POST /messages': () => answer } },
      'message',
      'balance',
    );
    // And goes on with what works.
    expect(lines.map(({ operation }) => operation)).toEqual(['balance']);
    expect(errors).toMatch(/^message failed: [^\n]+\n$/);
    expect(errors.trimEnd()).toMatch(sentence);
    expect(code).toBe(1);
  });

  it.skipIf(reason !== null).each([
    ['that is no number', 'soon'],
    ['that is over before it begins', '-5'],
    ['of a year', '31536000000'],
  ])('does not wait for a time %s, nor ask again', async (_, waitMs) => {
    const answer = { ...limited, headers: { ...json, 'retry-after-ms': waitMs } };
    const { errors, asked } = await tourBehind({ answers: { 'POST /messages': () => answer } }, 'message');
    expect(errors).toBe('message failed: HTTP 429 rate_limited: Too fast.\n');
    expect(asked).toEqual(['POST /messages']);
  });

  const always = (answer: CannedAnswer) => Object.fromEntries(REQUESTS.map((each) => [each, () => answer]));

  it.skipIf(reason !== null).each([
    ["a proxy's page of an error", page(502), /HTTP 502: not an answer of the gateway, but text\/html$/],
    ["a portal's page", page(200), /HTTP 200: not an answer of the gateway, but text\/html$/],
  ])('tells in a sentence of %s, whatever it asked for', async (_, answer, sentence) => {
    const { code, lines, errors } = await tourBehind({ answers: always(answer) });
    const told = errors.trimEnd().split('\n');
    expect(told.map((each) => each.split(' failed: ')[0])).toEqual(OPERATIONS);
    for (const each of told) expect(each).toMatch(sentence);
    expect({ code, lines }).toEqual({ code: 1, lines: [] });
  });

  it.skipIf(reason !== null).each([
    ['an object without anything', answered('{}')],
    ['null', answered('null')],
    ['a list', answered('[]')],
    ['a body that ends in the middle', half],
  ])('does not crash over %s, whatever it asked for', async (_, answer) => {
    const { lines, errors } = await tourBehind({ answers: always(answer) });
    // What a language takes for empty is told as empty, by a line; the rest in a sentence. No cost is told that nobody said.
    for (const { operation } of lines) expect(PAID).not.toContain(operation);
    const failed = errors.split('\n').slice(0, -1);
    for (const each of failed) expect(each).toMatch(/^[a-z]+ failed: \S/);
    const told = [...lines.map(({ operation }) => operation), ...failed.map((each) => each.split(' ')[0])];
    expect(told.toSorted()).toEqual(OPERATIONS.toSorted());
  });

  it.skipIf(reason !== null).each([
    ['that was cut', streamed(chunk('One')), /^stream failed: the stream was cut before its end\n$/],
    [
      'that broke off with an error',
      streamed(
        chunk('One'),
        '{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"error":{"code":"upstream_error","message":"It broke."}}',
        '[DONE]',
      ),
      /^stream failed: HTTP 200 upstream_error: It broke\.\n$/,
    ],
    [
      'that broke off with nothing but an error',
      streamed(chunk('One'), '{"error":{"code":"upstream_error","message":"It broke."}}', '[DONE]'),
      /^stream failed: HTTP 200 upstream_error: It broke\.\n$/,
    ],
  ])('tells in a sentence of a stream %s', async (_, answer, sentence) => {
    const { code, errors } = await tourBehind(
      { answers: { 'POST /chat/completions': () => answer } },
      'stream',
    );
    expect(errors).toMatch(sentence);
    expect(code).toBe(1);
  });

  it.skipIf(reason !== null).each([
    ['lines that end as in Windows', (text: string) => text.replaceAll('\n', '\r\n')],
    ['no blank behind the colon', (text: string) => text.replaceAll('data: ', 'data:')],
    [
      'comments and other fields',
      (text: string) => text.replaceAll('data: ', ': busy\nevent: chunk\ndata: '),
    ],
  ])('reads a stream with %s', async (_, written) => {
    const stream = streamed(chunk('One'), chunk(' two'), '[DONE]');
    const answer = { ...stream, body: written(stream.body) };
    const { code, lines, errors } = await tourBehind(
      { answers: { 'POST /chat/completions': () => answer } },
      'stream',
    );
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(lines).toMatchObject([{ operation: 'stream', text: 'One two' }]);
  });

  it.skipIf(reason !== null)(
    'ends the lines of a stream where they end, whatever a text holds, and however long',
    async () => {
      const text = `\u2028\u2029\u0085\u000b\u000c\u001c${'long '.repeat(1_200_000)}`;
      // The first three stand in JSON as they are.
      const stream = streamed(chunk(text), '[DONE]');
      const { code, lines, errors } = await tourBehind(
        { answers: { 'POST /chat/completions': () => stream } },
        'stream',
      );
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(lines).toMatchObject([{ operation: 'stream' }]);
      expect(lines[0]?.text === text).toBe(true);
    },
  );
});

function shownNanoUsd(lines: readonly TourLine[]): bigint {
  return lines.reduce((sum, { cost }) => sum + BigInt(Math.round((cost ?? 0) * 1e9)), 0n);
}

const summaryOf = ({ cost }: TourLine): string => (cost == null ? 'done' : `$${cost.toFixed(7)}`);
