import { spawnSync } from 'node:child_process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { Secret } from '#core/secret.ts';
import { createGatewayClient, type GatewayClient } from '../../api/admin/cli/gateway-client.ts';
import { simulateMarket } from '../../api/admin/cli/market/simulate-market.ts';
import { NewOperatorKey } from '../../api/admin/schemas/key-record.ts';
import { openPasteTable, type PasteTable } from '../clients/pasted-blocks.ts';
import { installPython } from '../clients/python/install-python.ts';
import { type GuideBlock, guideBlocks, isShown } from './guide-blocks.ts';

const blocks = guideBlocks();
const installed = await installPython();
const missing = 'missing' in installed;
if (missing) console.warn(`\nSKIPPED: what the guides say in Python and TOML. ${installed.missing}\n`);

let table: PasteTable;
let operator: GatewayClient;
const tried: string[] = [];
beforeAll(async () => {
  table = await openPasteTable(installed);
  const { admin_url: url, admin_token: token } = table.demo;
  operator = createGatewayClient({ url, token: new Secret(token) }, 'test');
  const rates = { tradesPerSecond: 20, changesPerSecond: 40, forSeconds: 1 };
  await simulateMarket({ client: operator, clock: systemClock, seed: 7, ...rates, tell: () => {} });
});
afterAll(async () => {
  await table?.[Symbol.asyncDispose]();
  const { length: shown } = blocks.filter((block) => block.shown !== null);
  const line = `${tried.length} of ${blocks.length} blocks of the guides tried, ${shown} of them with the output that is shown`;
  console.log([...tried, line].join('\n'));
});

const note = (block: GuideBlock, what: string) =>
  tried.push(`${block.guide}.md ${block.number}: ${block.language}, ${block.title}: ${what}`);

const toTry = (how: GuideBlock['how']) => blocks.filter((block) => block.how === how);

describe('a block of a guide runs as pasted, and answers what the guide shows', () => {
  it.for(toTry('run'))('$guide $number: $title ($language)', async (block, { skip }) => {
    skip(block.language === 'python' && missing);
    const { code, output, errors } = await table.run(block);
    expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
    const shown = block.shown === null ? null : table.adapt(block.shown);
    if (shown !== null && !isShown(output, shown)) expect(output).toBe(shown);
    note(block, shown === null ? 'ran' : 'ran, and answered as shown');
  });
});

describe('a configuration of a guide can be read, and leads a client of MCP here', () => {
  it.for(toTry('read'))('$guide $number: $title ($language)', async (block, { skip }) => {
    skip(block.language === 'toml' && missing);
    const config = read(block);
    const { address, holder } = placesIn(config);
    expect([address, holder]).toEqual([table.demo.mcp_url, expect.stringMatching(isFilledIn)]);
    // One for each: requests are counted by key.
    const { agent_id: agentId } = table.demo;
    const { key } = (await operator.post(NewOperatorKey, `/agents/${agentId}/keys`, { label: block.title }))
      .value;
    const client = new Client({ name: 'guide', version: '1.0.0' });
    const headers = { authorization: `Bearer ${key}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }));
    expect((await client.listTools()).tools).toHaveLength(9);
    await client.close();
    note(block, 'read, and followed by the official client');
  });

  function read({ language, source }: GuideBlock): unknown {
    const adapted = table.adapt(source);
    if (language === 'json') return JSON.parse(adapted);
    const script = 'import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))';
    const python = missing ? '' : installed.python;
    return JSON.parse(spawnSync(python, ['-c', script], { input: adapted, encoding: 'utf8' }).stdout);
  }

  /** Where the client goes, and what it fills the key in for: its own words for both. */
  function placesIn(config: unknown): { address: string; holder: string } {
    const texts = textsIn(config);
    const address = texts.find((each) => /^https?:/.test(each)) ?? '';
    const [bearer] = texts.flatMap((each) => /^Bearer (.+)$/.exec(each)?.[1] ?? []);
    return { address, holder: bearer ?? texts.find((each) => isFilledIn.test(each)) ?? '' };
  }

  const isFilledIn = /^(\$\{(env:)?FAREGATE_KEY\}|\$\{input:faregate-key\}|YOUR_KEY|FAREGATE_KEY)$/;

  const textsIn = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    if (Array.isArray(value)) return value.flatMap(textsIn);
    return isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
  };
});

test('a block that is not run says why', () => {
  for (const block of toTry('not run')) tried.push(`${block.guide}.md ${block.number}: ${block.note}`);
  expect(toTry('not run').length).toBeLessThan(3);
});

test('what is shown has to come back, line by line', () => {
  expect(isShown('a: 1\r\nb: 22\n', 'b: 2…')).toBe(true);
  expect(isShown('a: 1\nb: 22\n', 'b: 2')).toBe(false);
  expect(isShown('a\nb', 'b\na')).toBe(false);
  expect(isShown('a.b', 'a…c')).toBe(false);
  expect(isShown('axb', 'a.b')).toBe(false);
});
