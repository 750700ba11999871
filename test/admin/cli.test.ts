import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { hashApiKey } from '#core/accounts/api-key.ts';
import { isoTime } from '#core/clock.ts';
import { runCli } from '../../api/admin/cli/run-cli.ts';
import { paintFor } from '../../api/admin/cli/terminal.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';
import { callOf } from '../backup/call-of.ts';
import { row } from '../catalog/support.ts';
import { MEDIA_YAML, startTestAdmin, type TestAdmin, TOKEN, YAML } from './admin-harness.ts';

let folder = '';
let admin: TestAdmin;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'faregate-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeEach(async () => {
  admin = await startTestAdmin();
  writeDemo(admin.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await admin.stop();
});

const writeDemo = (admin_url: string, admin_token = TOKEN): void =>
  writeFileSync(join(folder, 'demo.json'), JSON.stringify({ admin_url, admin_token }));

interface RunOptions {
  /** What a person at a terminal types; without it nobody is there. */
  types?: string;
  /** Standard output is a terminal. */
  colours?: boolean;
  dataDir?: string;
  internalPort?: string;
}

const USER = 'ada';

/** The command in this process. */
async function run(args: readonly string[], options: RunOptions = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: options.types !== undefined });
  stdin.end(options.types ?? '');
  const stdout = sink(options.colours ?? false);
  const stderr = sink(false);
  const code = await runCli(args, {
    environment: {
      ...cliEnvironment({ FAREGATE_DATA: options.dataDir ?? folder }),
      internalPort: options.internalPort ?? '1',
      user: USER,
    },
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  return { code, out: stdout.text(), err: stderr.text() };
}

function sink(isTTY: boolean) {
  const chunks: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }), text: () => chunks.join('') };
}

const cli = (line: string, options?: RunOptions) => run(line.split(' '), options);

describe('a first customer', () => {
  test('is made, paid for, and given a key that works', async () => {
    expect(await cli('agents create alpha')).toMatchObject({ code: 0, err: '' });
    const granted = await cli('credit grant 1 5');
    expect(granted.code).toBe(0);
    expect(granted.out).toMatch(/Granted \$5 as cli-\w{16}\.[\s\S]*Spendable\s+\$5\n/);
    const made = await run(['keys', 'create', '1', 'web shop']);
    expect(made.code).toBe(0);
    const key = /fg_[0-9A-Za-z]{38}/.exec(made.out)?.[0] ?? '';
    expect(made.out).toContain('not shown again');
    const found = await admin.ledger.findKey([hashApiKey(key, admin.pepper)]);
    expect(found).toMatchObject({ found: true, agentId: 1 });
    const shown = await cli('keys list 1');
    expect(shown.out).toMatch(/web shop\s+fg_/);
    expect(shown.out).not.toContain(key);
  });

  test('can be given a key with a spending limit, named whole or not at all', async () => {
    await cli('agents create alpha');
    const made = await cli('keys create 1 shop --limit-usd 10 --reset daily');
    expect(made.out).toMatch(/Limit\s+\$10 daily/);
    expect(await cli('keys create 1 shop --limit-usd 10')).toMatchObject({ code: 2 });
    expect(await cli('keys create 1 shop --limit-usd 10 --reset hourly')).toMatchObject({ code: 2 });
    expect((await admin.get('/agents/1/keys')).body.keys).toHaveLength(1);
  });
});

test('lists agents in columns, and says how to see the rest', async () => {
  await cli('agents create alpha');
  await run(['agents', 'create', 'a much longer name', '--inactive']);
  const { out } = await cli('agents list');
  const [head, first, second] = out.split('\n');
  expect(head).toMatch(/^ID {2}NAME +TOKEN {2}STATUS +CREATED$/);
  expect(first?.indexOf('active')).toBe(head?.indexOf('STATUS'));
  expect(second).toContain('inactive');
  expect((await cli('agents list --limit 1')).out).toContain('More: agents list --limit 1 --after 1');
  expect((await cli('agents list --after 1')).out).not.toContain('alpha');
});

test('--json prints the answer as it came, wherever it stands', async () => {
  await cli('agents create alpha');
  const expected = (await admin.get('/agents/1')).body;
  for (const line of ['--json agents show 1', 'agents show 1 --json', 'agents --json show 1']) {
    const { code, out } = await cli(line);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(expected);
  }
});

test('colours are for terminals: a pipe gets the same text without them', async () => {
  vi.stubEnv('FORCE_COLOR', undefined);
  vi.stubEnv('NO_COLOR', undefined);
  await cli('agents create alpha');
  const plain = (await cli('agents list')).out;
  const coloured = (await cli('agents list', { colours: true })).out;
  expect(plain).toBe(stripVTControlCharacters(plain));
  expect(coloured).not.toBe(plain);
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});

test('FORCE_COLOR has them in a pipe, and NO_COLOR not even in a terminal', async () => {
  await cli('agents create alpha');
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('FORCE_COLOR', '1');
  const { out } = await cli('agents list');
  expect(out).not.toBe(stripVTControlCharacters(out));
  vi.stubEnv('FORCE_COLOR', undefined);
  vi.stubEnv('NO_COLOR', '1');
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true,
    getColorDepth: WriteStream.prototype.getColorDepth,
  });
  expect(paintFor(terminal)('red', 'plain')).toBe('plain');
});

test('where there is no market yet, the list says how to get one', async () => {
  expect((await cli('markets list')).out).toContain('a record on the topic dex.markets.v1');
  await using alone = await startTestAdmin({
    feeds: () => ({ feed: async () => [], wantedSnapshots: async () => [] }),
  });
  writeDemo(alone.url);
  expect((await cli('markets list')).out).toContain('"faregate market simulate" makes one');
});

test('markets are listed with what they cost and how far their book has come', async () => {
  const nowMs = admin.clock.now();
  const market = `credit-${isoTime(nowMs + 5 * 86_400_000).slice(0, 10)}`;
  const { store, live } = admin.markets;
  await store.putListing({
    ...{ v: 1, type: 'market_listed', market, version: 1, opensAt: nowMs - 1_000 },
    ...{ priceTick: 100_000n, sizeStep: 10_000_000n, freshPrice: 990_000_000n },
  });
  const level = { size: '3', orders: 1 };
  await live.publishBook(market, {
    ...{ seq: 42, atMs: nowMs - 3_400 },
    ...{ bids: [{ price: '0.9549', ...level }], asks: [{ price: '0.9552', ...level }] },
  });
  const { code, out } = await cli('markets list');
  expect(code).toBe(0);
  const [head, row] = out.split('\n');
  expect(head).toMatch(
    /^MARKET +STATUS +OPENS \(UTC\) +ENDS \(UTC\) +LAST +BID +ASK +FRESH +24 H +TRADES +BOOK +AGE$/,
  );
  expect(row).toMatch(new RegExp(`^${market} +newest .* +- +0\\.9549 +0\\.9552 +0\\.99 +\\$0 +0 +42 +3 s$`));
  await live.publishBook(market, null);
  expect((await cli('markets list')).out).toMatch(/ no book /);
  admin.clock.advance(6 * 86_400_000);
  expect((await cli('markets list')).out).toMatch(/ closed /);
});

test.each([
  ['market simulate --market monday', 'takes a name and a date'],
  ['market simulate --agents 2', 'two ids or more'],
  ['market simulate --agents 2,x', 'has to be a number'],
  ['market simulate --for 0', 'a number above 0'],
  ['market simulate --trades-per-second -1', 'a number above 0'],
  ['market simulate --seed 1.5', 'a whole number'],
])('%s is wrong usage', async (line, words) => {
  expect(await cli(line)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(words) });
});

describe('who changed what', () => {
  test('is listed with the name of who ran the command, and what came of it', async () => {
    await cli('agents create alpha');
    await cli('agents suspend 9 --yes');
    const { code, out } = await cli('audit list');
    expect(code).toBe(0);
    const [head, refused, made] = out.split('\n');
    expect(head).toMatch(/^TIME \(UTC\) +WHO +FROM +ACTION +RESULT +SUBJECT$/);
    expect(refused).toContain(` ${USER} `);
    expect(refused).toMatch(/agents\.suspend +not_found +agent_id=9/);
    expect(made).toMatch(/agents\.create +ok +name=alpha status=active id=1/);
  });

  test('is listed by kind, since a time, and page by page', async () => {
    for (const name of ['a', 'b', 'c']) await cli(`agents create ${name}`);
    await cli('agents suspend 1 --yes');
    const listed = async (options: string) => {
      const { out } = await cli(`audit list --json ${options}`);
      return JSON.parse(out).changes.map(({ action }: { action: string }) => action);
    };
    expect(await listed('--action agents.suspend')).toEqual(['agents.suspend']);
    const day = isoTime(admin.clock.now()).slice(0, 10);
    for (const since of [day, `${day}T00:00`, `${day}T00:00:00Z`, `${day}T01:00:00+01:00`]) {
      expect(await listed(`--since ${since}`)).toHaveLength(4);
    }
    expect(await listed(`--since ${isoTime(admin.clock.now() + 60_000)}`)).toEqual([]);
    // The command goes by this machine's clock.
    const hours = Math.ceil((Date.now() - admin.clock.now()) / 3_600_000) + 1;
    if (hours > 0 && hours < 10_000) expect(await listed(`--since ${hours}h`)).toHaveLength(4);
    const first = await cli('audit list --limit 3 --since 2020-01-01');
    const more = /More: (audit list .*)/.exec(first.out)?.[1] ?? '';
    expect(more).toMatch(/^audit list --since 2020-01-01T00:00:00.000Z --limit 3 --before \d+$/);
    expect((await cli(more)).out).toMatch(/agents\.create +ok +name=a /);
  });

  test.each(['yesterday', '24', '2026-13-01', '10y'])('is not listed since %s', async (since) => {
    const { code, err } = await cli(`audit list --since ${since}`);
    expect([code, err]).toEqual([2, expect.stringContaining('such as 2026-11-21 or 24h')]);
  });
});

test('a name from far away cannot write to the terminal', async () => {
  await admin.ledger.execute({
    type: 'set_agent',
    agentId: 1,
    mode: 'create',
    source: 'launches',
    sourceVersion: 1,
    status: 'active',
    name: 'evil\u001b]0;owned\u0007\r\u202e',
    token: null,
  });
  for (const line of ['agents list', 'agents show 1', 'agents suspend 1']) {
    const { out, err } = await cli(line, { types: 'n\n', colours: true });
    expect(out + err).toContain('evil');
    const seen = stripVTControlCharacters(out + err).replaceAll('\n', '');
    expect(seen).not.toMatch(/\p{Cc}|\u202e/u);
  }
});

describe('what hurts when it was a mistake', () => {
  const status = async () => (await admin.get('/agents/1')).body.status;

  beforeEach(() => cli('agents create alpha'));

  test('is asked about, and only a yes does it', async () => {
    for (const types of ['n\n', '\n', 'yess\n', '']) {
      const answer = await cli('agents suspend 1', { types });
      expect(answer).toMatchObject({ code: 1 });
      expect(answer.err).toContain('Suspend agent 1 (alpha, 0 running calls)? [y/N]');
      expect(answer.err).toContain('Nothing was done.');
      expect(await status()).toBe('active');
    }
    expect(await cli('agents suspend 1', { types: 'y\n' })).toMatchObject({ code: 0 });
    expect(await status()).toBe('suspended');
    expect((await cli('agents activate 1')).out).toMatch(/Status\s+active/);
  });

  test('is not done when nobody is there to ask, unless with --yes', async () => {
    const refused = await cli('agents suspend 1');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('add --yes');
    expect(await status()).toBe('active');
    expect(await cli('agents suspend 1 --yes')).toMatchObject({ code: 0 });
    expect(await status()).toBe('suspended');
  });

  test('is a reload that takes prices which jumped, and no other', async () => {
    const priced = (prompt: string) => [row('x/a', { pricing: { prompt, completion: '0.00001' } })];
    admin.list.rows = priced('0.000001');
    admin.file.text = YAML.replace(
      'models:',
      '  - { id: hub, kind: openrouter, baseUrl: http://hub:1/v1, catalog: import }\nmodels:',
    );
    const promptPrice = async () =>
      (await admin.get('/catalog?search=x/a')).body.models[0].endpoints[0].prompt_usd;
    expect(await cli('catalog reload')).toMatchObject({ code: 0, err: '' });
    admin.list.rows = priced('0.00009');
    // Nobody has seen this jump, so nobody is asked, and it is not taken either.
    expect((await cli('catalog reload --yes')).out).toContain('held back');
    expect((await cli('catalog show')).out).toContain('prices of 1 held back');
    expect(await promptPrice()).toBe('0.000001');

    const unasked = await cli('catalog reload');
    expect(unasked.code).toBe(2);
    expect(unasked.err).toContain('Prices jumped and are held back: x/a.');
    expect(await cli('catalog reload', { types: 'n\n' })).toMatchObject({ code: 1 });
    expect(await promptPrice()).toBe('0.000001');
    expect(await cli('catalog reload', { types: 'y\n' })).toMatchObject({ code: 0 });
    expect(await promptPrice()).toBe('0.00009');
  });

  test('is a reload that takes prices of videos, which the list of providers shows', async () => {
    const priced = (duration_seconds: string) => [
      {
        id: 'x/clip',
        name: 'x/clip',
        supported_resolutions: ['720p'],
        supported_aspect_ratios: ['16:9'],
        supported_durations: [4],
        pricing_skus: { duration_seconds },
      },
    ];
    admin.list.rows = [row('x/a')];
    admin.list.videos = priced('0.05');
    admin.file.text = YAML.replace(
      'models:',
      '  - { id: hub, kind: openrouter, baseUrl: http://hub:1/v1, catalog: import }\nmodels:',
    );
    expect(await cli('catalog reload')).toMatchObject({ code: 0, err: '' });
    const shown = (await cli('catalog show')).out;
    expect(shown).toMatch(/hub .* 1 models of [-\d: ]+; 1 video models of [-\d: ]+ runs/);
    expect(shown).not.toContain('image models');
    admin.list.videos = priced('5');
    await cli('catalog reload');
    expect((await cli('catalog show')).out).toMatch(/1 video models of [-\d: ]+, prices of 1 held back/);
    const answer = await cli('catalog reload', { types: 'y\n' });
    expect(answer.err).toContain('Prices jumped and are held back: x/clip.');
    expect((await cli('catalog show clip')).out).toMatch(/x\/clip\s+hub\s+duration_seconds 5\n/);
  });

  test('names the key that it revokes', async () => {
    const { id, prefix } = (await admin.post('/agents/1/keys', { label: 'web shop' })).body;
    const answer = await cli(`keys revoke 1 ${id}`, { types: 'n\n' });
    expect(answer.err).toContain(`Revoke key ${id} (web shop, ${prefix}…)?`);
    expect((await admin.get('/agents/1')).body.active_keys).toBe(1);
    expect(await cli(`keys revoke 1 ${id}`, { types: 'yes\n' })).toMatchObject({ code: 0 });
    expect((await admin.get('/agents/1')).body.active_keys).toBe(0);
    expect(await cli('keys revoke 1 5', { types: 'yes\n' })).toMatchObject({ code: 1 });
  });
});

describe("a key's label and limit", () => {
  let keyId = 0;
  const key = async () => (await admin.get('/agents/1/keys')).body.keys[0];
  beforeEach(async () => {
    await cli('agents create alpha');
    keyId = (await admin.post('/agents/1/keys', { label: 'web shop' })).body.id;
  });

  test('are changed by name, and shown as they are then', async () => {
    const limited = await cli(`keys update 1 ${keyId} --limit-usd 10 --reset daily`);
    expect(limited).toMatchObject({ code: 0, err: '' });
    expect(limited.out).toMatch(/web shop +fg_\w+ +\$10 daily/);
    expect((await run(['keys', 'update', '1', `${keyId}`, '--label', 'shop, EU'])).out).toMatch(
      /shop, EU +fg_\w+ +\$10 daily/,
    );
    expect(await key()).toMatchObject({ label: 'shop, EU', spending_limit: { limit_usd: '10' } });
    const json = await cli(`keys update 1 ${keyId} --label shop --json`);
    expect(JSON.parse(json.out)).toEqual(await key());
  });

  test('are asked about where the limit is taken away', async () => {
    await cli(`keys update 1 ${keyId} --limit-usd 10 --reset daily`);
    expect((await cli(`keys update 1 ${keyId} --no-limit`)).code).toBe(2);
    const asked = await cli(`keys update 1 ${keyId} --no-limit`, { types: 'n\n' });
    expect(asked).toMatchObject({ code: 1 });
    expect(asked.err).toContain(`Take the limit of key ${keyId} (web shop, `);
    expect((await key()).spending_limit).not.toBeNull();
    expect(await cli(`keys update 1 ${keyId} --no-limit --label free --yes`)).toMatchObject({ code: 0 });
    expect(await key()).toMatchObject({ label: 'free', spending_limit: null });
  });

  test.each(['', ' --limit-usd 5', ' --reset daily', ' --limit-usd 5 --reset daily --no-limit', ' --yes'])(
    'are not changed by "%s"',
    async (options) => {
      const before = await key();
      const { code, out, err } = await cli(`keys update 1 ${keyId}${options}`);
      expect([code, out]).toEqual([2, '']);
      expect(err).not.toBe('');
      expect(await key()).toEqual(before);
    },
  );
});

describe('exit codes', () => {
  test('1: the gateway says no, in one sentence', async () => {
    const answer = await cli('agents show 9');
    expect(answer).toEqual({ code: 1, out: '', err: 'There is no agent 9.\n' });
    const json = await cli('agents show 9 --json');
    expect(json).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(json.err).error).toMatchObject({ code: 'not_found' });
  });

  test('1: an audit finds something', async () => {
    await cli('agents create alpha');
    expect(await cli('ledger audit')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/in \$0, out \$0, in transit \$0\n[\s\S]*books are right/),
    });
    const agent = admin.ledger.state.agents.get(1);
    if (agent !== undefined) agent.chargedNanoUsd = 5n;
    const { code, out } = await cli('ledger audit');
    expect(code).toBe(1);
    expect(out).toMatch(/1 problems:[\s\S]*came in/);
    expect((await cli('ledger audit --json')).code).toBe(1);
  });

  test('1: a bill cannot be read', async () => {
    expect(await cli('ledger bills')).toMatchObject({
      code: 0,
      out: expect.stringContaining('No provider here'),
    });
    const fromMs = Date.UTC(2026, 10, 18, 0, 15);
    const comparison = {
      fromMs,
      toMs: fromMs + 1,
      billedNanoUsd: 1_500_000_000n,
      recordedNanoUsd: 2_000_000_001n,
    };
    const account = { name: 'a b', providerIds: ['a', 'b'] };
    admin.bills.push({ account, comparison, problem: null });
    admin.bills.push({ account: { name: 'c', providerIds: ['c'] }, comparison: null, problem: null });
    const shown = await cli('ledger bills');
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/a, b +2026-11-18 00:15 +\$1\.5 +\$2\.000000001 +\$-0\.500000001/);
    expect(shown.out).toMatch(/c +nothing to compare with yet/);
    admin.bills.push({ account, comparison: null, problem: 'The provider answered 500.' });
    const { code, out } = await cli('ledger bills');
    expect(code).toBe(1);
    expect(out).toContain('The provider answered 500.');
    expect(JSON.parse((await cli('ledger bills --json')).out).bills[0].comparison.difference_usd).toBe(
      '-0.500000001',
    );
  });

  test('1: a reload finds a wrong file, and the check tells of it', async () => {
    expect((await cli('catalog check')).code).toBe(0);
    admin.file.text = 'models: 5';
    expect(await cli('catalog reload')).toMatchObject({
      code: 1,
      out: expect.stringContaining('was not reloaded'),
    });
    expect((await cli('catalog check')).code).toBe(1);
  });

  test.each([
    'nope',
    'agents nope',
    'agents show',
    'agents show x',
    'agents show 0',
    'agents list --nope',
    '--url nowhere agents list',
    '--url ftp://127.0.0.1 agents list',
    '--token-file /nowhere/token agents list',
  ])('2: faregate %s', async (line) => {
    const { code, out, err } = await cli(line);
    expect([code, out]).toEqual([2, '']);
    expect(err).not.toBe('');
  });

  test('3: nothing has ever run here, nothing answers, or something else does', async () => {
    const nowhere = await cli('agents list', { dataDir: join(folder, 'empty') });
    expect(nowhere.code).toBe(3);
    expect(nowhere.err).toContain('No gateway has been started in');

    await admin.stop();
    const stopped = await cli('agents list');
    expect(stopped.code).toBe(3);
    expect(stopped.err).toContain('ECONNREFUSED');
    expect(stopped.err).toContain('make run');
    admin = await startTestAdmin();

    const other = createServer((_, res) => res.end('<html>hello</html>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const stranger = await cli(`--url http://127.0.0.1:${port} agents list`);
    expect(stranger.code).toBe(3);
    expect(stranger.err).toContain('not the admin API');
    other.close();
  });

  test('are explained by --help', async () => {
    const { code, out } = await cli('--help');
    expect(code).toBe(0);
    for (const words of ['0  done', '1  refused', '2  wrong usage', '3  the gateway cannot']) {
      expect(out).toContain(words);
    }
  });
});

test('a grant whose answer was lost says how to repeat it safely; a refused one does not', async () => {
  await cli('agents create alpha');
  const refused = await cli('credit grant 1 0');
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.err).not.toContain('--grant-id');
  await admin.ledger.close();
  const lost = await cli('credit grant 1 5');
  expect(lost.code).toBe(1);
  expect(lost.err).toMatch(/repeat with --grant-id cli-\w{16}/);
});

test('the same grant id is booked once', async () => {
  await cli('agents create alpha');
  await cli('credit grant 1 5 --grant-id a --days 2');
  const again = await cli('credit grant 1 5 --grant-id a');
  expect(again.out).toContain('nothing was added');
  expect((await admin.get('/agents/1')).body.balance_usd).toBe('5');
});

test('shows prices per million tokens, and finds a call', async () => {
  const { out } = await cli('catalog show small');
  expect(out).toMatch(/acme\/small\s+vllm\s+0\.1\s+0\.4\s+0\n/);
  // A gateway that serves text alone has no empty tables of other models.
  expect(out).not.toMatch(/IMAGE|VIDEO/);
  expect(await cli('calls find 4242')).toMatchObject({ code: 1 });
});

test('a call that is found says whether its tokens were counted or estimated', async () => {
  const tokens = { prompt: 10, completion: 20, reasoning: null, cached: 0 };
  admin.calls.push(callOf(1, 81), callOf(1, 82, { tokens: { ...tokens, estimated: true } }));
  expect((await cli('calls find 81')).out).toMatch(/10 in, 20 out\n/);
  expect((await cli('calls find 82')).out).toMatch(/10 in, 20 out \(estimated\)\n/);
  const { call } = (await admin.get('/calls/82')).body;
  expect(call.tokens).toEqual({ ...tokens, estimated: true });
  expect((await admin.get('/calls/81')).body.call.tokens).toEqual(tokens);
});

test('shows prices of images and videos as their providers bill them, and how many more there are', async () => {
  admin.file.text = MEDIA_YAML;
  await cli('catalog reload');
  const { out } = await cli('catalog show --limit 1');
  expect(out).toMatch(/IMAGE MODEL\s+PROVIDER\s+PRICE\n/);
  expect(out).toMatch(/acme\/painter\s+hub\s+output_image 1k 0\.02\/image\n/);
  expect(out).toMatch(/acme\/painter\s+hub\s+input_text 0\.000000001\/token\n/);
  expect(out).toMatch(/acme\/clip\s+hub\s+duration_seconds_720p 0\.050000000000000001\n/);
  expect(out).toMatch(/acme\/clip\s+hub\s+cents_per_image_input 1\.5\n/);
  expect(out).not.toContain('other/clip');
  expect(out).toContain('And 1 more: search');
  expect((await cli('catalog show')).out).not.toContain('more:');
});

describe('the gateway is found', () => {
  test('by its data folder alone, when it has written no demo.json', async () => {
    const dataDir = mkdtempSync(join(folder, 'plain-'));
    writeFileSync(join(dataDir, 'admin-token'), `${TOKEN}\n`);
    const internalPort = new URL(admin.url).port;
    expect(await cli('agents list', { dataDir, internalPort })).toMatchObject({ code: 0 });
  });

  test('by its data folder, on whatever port it listens', async () => {
    const dataDir = mkdtempSync(join(folder, 'moved-'));
    writeFileSync(join(dataDir, 'admin-token'), `${TOKEN}\n`);
    writeFileSync(join(dataDir, 'admin-url'), `${admin.url}\n`);
    expect(await cli('agents list', { dataDir, internalPort: '1' })).toMatchObject({ code: 0 });
  });

  test('and one whose token is configured says which option names it', async () => {
    const dataDir = mkdtempSync(join(folder, 'configured-'));
    writeFileSync(join(dataDir, 'admin-url'), `${admin.url}\n`);
    const answer = await cli('agents list', { dataDir });
    expect([answer.code, answer.err]).toEqual([2, expect.stringContaining('--token-file')]);
  });

  test('by --url, with or without /admin, and --token-file', async () => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, TOKEN);
    const dataDir = join(folder, 'none');
    for (const url of [admin.url, admin.url.replace('/admin', ''), `${admin.url}/`]) {
      expect(await cli(`--url ${url} --token-file ${tokenFile} agents list`, { dataDir })).toMatchObject({
        code: 0,
      });
    }
  });

  test('but another machine is not told the token of this one', async () => {
    const answer = await cli('--url http://gateway.example:9090 agents list');
    expect(answer.code).toBe(2);
    expect(answer.err).toContain('--token-file');
  });

  test('and a token that it does not know is refused', async () => {
    writeDemo(admin.url, TOKEN.replace('0', '1'));
    const answer = await cli('agents list');
    expect(answer.code).toBe(1);
    expect(answer.err).toContain('does not know the token');
    expect(answer.err).not.toContain('fg_admin_1');
  });
});
