import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Block, readBlocks } from '../clients/pasted-blocks.ts';
import { compileCache } from '../support/compile-cache.ts';
import { putMake } from '../support/make-stand-in.ts';

/** What a new operator pastes. */
const allBlocks = [
  ...readBlocks(await readFile('docs/operate.md', 'utf8')),
  ...readBlocks(await readFile('docs/market-feeds.md', 'utf8')),
];
const isBackup = ({ title }: Block) => title === 'Back it up';
const blocks = allBlocks.filter((block) => !isBackup(block));

let gateway: ChildProcess;
let dataDir: string;
let backups: string;
let demo: { base_url: string; admin_url: string };

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'faregate-readme-'));
  backups = await mkdtemp(join(tmpdir(), 'faregate-backups-'));
  gateway = spawn(process.execPath, ['api/main.ts'], {
    env: { ...compileCache, PATH: process.env.PATH, PORT: '0', INTERNAL_PORT: '0', FAREGATE_DATA: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const chunk of gateway.stdout ?? []) if (String(chunk).includes('Try it')) break;
  gateway.stdout?.resume();
  const file = await readFile(join(dataDir, 'demo.json'), 'utf8');
  demo = z.object({ base_url: z.string(), admin_url: z.string() }).parse(JSON.parse(file));
  await putMake(dataDir);
});

afterAll(async () => {
  await stopGateway();
  await rm(dataDir, { recursive: true });
  await rm(backups, { recursive: true });
});

async function stopGateway() {
  if (gateway.exitCode !== null) return;
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  await ended;
}

/** What each shows, besides ending well. */
const shown: Record<string, readonly (string | RegExp)[]> = {
  'A new customer': ['Made agent 2.', 'Granted $10.00', 'fg_', /Spendable +\$10\n[\s\S]*Active keys +1/],
  'A customer from a script': ['"grant_id": "welcome-3"', '"key": "fg_', '"limit_usd": "1"'],
  'A key in wrong hands': [/laptop[\s\S]*revoked/, 'new laptop', /Status +active/],
  'What did this call cost?': [/Model +faregate-sim\/small/, /Charged +\$0\.0/],
  'Prices, books, and who did what': [
    'faregate-sim/small',
    'Everything works.',
    'The books are right.',
    /keys\.revoke +ok/,
    /agents\.create +ok +name=Acme Ltd status=active id=2/,
  ],
  'One that trades by itself': [
    /\d trades of +\$\d/,
    /^x-used-weight-1m: \d+\r$/m,
    /"bids":\[\{"price":"0\.\d+","size":"[\d.]+","orders":\d+\},/,
    /"interval":"1m","candles":\[\{"time":\d+,/,
  ],
  'By hand': [
    /^\{"outcomes":\[\{"outcome":"done"\}\],"wanted_snapshots":\["demo-\S+"\]\}\n/,
    /\n(\{"outcomes":\[\{"outcome":"done"\}\],"wanted_snapshots":\[\]\}\n){2}/,
    /demo-\S+ +newest .* 0\.9 +0\.9 +- +0\.99 +\$1 +1 +1 +\d+ s\n/,
    /Buyer\n[\s\S]*Moved +in \$1, out \$0/,
  ],
};

describe('a block for operators runs as pasted', () => {
  it('and there are these', () => {
    expect(blocks.map(({ title }) => title)).toEqual(Object.keys(shown));
  });

  it.for(blocks)('$title', async ({ title, source }) => {
    const { output, code } = await run(source);
    for (const words of shown[title] ?? []) {
      expect(output).toEqual(
        words instanceof RegExp ? expect.stringMatching(words) : expect.stringContaining(words),
      );
    }
    expect(code).toBe(0);
  });

  it('Back it up: while the gateway runs, and back while it does not', async () => {
    const [block] = allBlocks.filter(isBackup);
    const [backup = '', restore = '', ...more] = (block?.source.trim() ?? '')
      .replaceAll('/var/backups', backups)
      .split('\n');
    expect(more).toEqual([]);
    const made = await run(backup);
    expect(made).toEqual({ code: 0, output: expect.stringMatching(/^Wrote .+ and read it back\.\n/) });
    await stopGateway();
    expect(await run(restore)).toEqual({
      code: 0,
      output: expect.stringMatching(/^Restored .+\nWhat stood there is in .+\n[\s\S]*Agents +[3-9]/),
    });
  });
});

async function run(source: string) {
  const adapted = source
    .replaceAll('http://127.0.0.1:8080/v1', demo.base_url)
    .replaceAll('http://127.0.0.1:9090/admin', demo.admin_url)
    .replaceAll('.faregate/', `${dataDir}/`);
  const child = spawn('sh', ['-e', '-c', adapted], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...compileCache, PATH: [dataDir, process.env.PATH].join(delimiter), FAREGATE_DATA: dataDir },
  });
  const ended = once(child, 'exit');
  const output = await text(child.stdout);
  const [code] = await ended;
  return { output, code };
}
