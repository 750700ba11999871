import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { probeVideo } from '../support/probe-video.ts';
import { installPython } from './python/install-python.ts';

/** What a new user pastes, in the order of the README. */
const readme = await readFile('README.md', 'utf8');
const blocks = blocksBetween('### First call', '## How money works');
const accountBlocks = blocksBetween('## Your account, by MCP', '## Operate it');

function blocksBetween(from: string, to: string) {
  const part = readme.slice(readme.indexOf(from), readme.indexOf(to));
  return part.split(/^##+ /m).flatMap((section) => {
    const title = section.split('\n', 1)[0] ?? '';
    return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', source = '']) => {
      return { title, language, source };
    });
  });
}

const installed = await installPython();
const missing = 'missing' in installed;
if (missing) console.warn(`\nSKIPPED: what the README says of Python packages. ${installed.missing}\n`);

let gateway: ChildProcess;
let dataDir: string;
let scripts: string;
let demo: { base_url: string; key: string };

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'faregate-readme-'));
  // Inside the checkout, where the packages are found.
  await mkdir('.cache', { recursive: true });
  scripts = await mkdtemp(join(process.cwd(), '.cache', 'readme-'));
  gateway = spawn(process.execPath, ['api/main.ts'], {
    env: { PATH: process.env.PATH, PORT: '0', INTERNAL_PORT: '0', FAREGATE_DATA: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const chunk of gateway.stdout ?? []) if (String(chunk).includes('Try it')) break;
  gateway.stdout?.resume();
  await writeFile(join(dataDir, 'picture.png'), 'a picture');
  const file = await readFile(join(dataDir, 'demo.json'), 'utf8');
  demo = z.object({ base_url: z.string(), key: z.string() }).parse(JSON.parse(file));
});

afterAll(async () => {
  const ended = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  await ended;
  await rm(dataDir, { recursive: true });
  await rm(scripts, { recursive: true });
});

describe('a block of the README runs as pasted', () => {
  it('and there is one for each client', () => {
    expect(blocks.map(({ title, language }) => `${title} (${language})`)).toEqual([
      'First call (sh)',
      'curl (sh)',
      '`openai` for node (ts)',
      '`openai` for Python (python)',
      '`@anthropic-ai/sdk` for node (ts)',
      '`anthropic` for Python (python)',
      'Claude Code (sh)',
      '`@openrouter/sdk` (ts)',
      'AI SDK (ts)',
      'AI SDK (ts)',
      'AI SDK (ts)',
      'LangChain (ts)',
      'Web search and fetch (sh)',
      'Pictures of your own (ts)',
      'Make pictures (sh)',
      'Make videos (ts)',
    ]);
  });

  it.for(blocks.map((block, index) => ({ ...block, index })))(
    '$title ($index)',
    async ({ title, language, source, index }, { skip }) => {
      skip(language === 'python' && missing);
      const before = await chargedUsd();
      const { output, code } = await run(language, source, index);
      expect(code).toBe(0);
      if (title === UPLOADS) {
        const link = /url: '([^']+\/files\/uploads\/[^']+)'/.exec(output)?.[1] ?? '';
        expect(await (await fetch(link)).text()).toBe('a picture');
        return;
      }
      if (title === PICTURES) {
        const links = JSON.parse(output).data.map((picture: { url: string }) => picture.url);
        expect(links).toHaveLength(2);
        for (const link of links) expect((await fetch(link)).headers.get('content-type')).toBe('image/png');
      } else if (title === VIDEOS) {
        const probed = await probeVideo(join(dataDir, 'harbour.mp4'));
        if (probed !== null) expect(probed).toMatchObject({ codec: 'h264', seconds: 2 });
      } else expect(output).toContain(SIMULATED);
      expect(await chargedUsd()).toBeGreaterThan(before);
    },
  );
});

it('the account is read as pasted, by a host and in code', async () => {
  const told = await Promise.all(
    accountBlocks.map(({ language, source }, index) => run(language, source, blocks.length + index)),
  );
  expect(told).toMatchObject([
    { code: 0, output: expect.stringMatching(/faregate: .* Connected/) },
    { code: 0, output: expect.stringContaining('spendable_usd') },
  ]);
});

/** Calls no model. */
const UPLOADS = 'Pictures of your own';
const PICTURES = 'Make pictures';
const VIDEOS = 'Make videos';

/** Every text of the simulator says so. */
const SIMULATED = 'No model ran';

async function run(language: string, source: string, index: number) {
  const adapted = source
    .replaceAll('http://127.0.0.1:8080/v1', demo.base_url)
    .replaceAll('http://127.0.0.1:8080', demo.base_url.replace(/\/v1$/, ''))
    .replaceAll('.faregate/demo.json', join(dataDir, 'demo.json'))
    .replaceAll('picture.png', join(dataDir, 'picture.png'))
    .replaceAll('harbour.mp4', join(dataDir, 'harbour.mp4'));
  const file = join(scripts, `${index}.${language}`);
  await writeFile(file, adapted);
  const program = { sh: 'sh', ts: process.execPath, python: missing ? '' : installed.python }[language];
  if (program === undefined) throw new Error(`Nothing runs ${language}.`);
  const child = spawn(program, [file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Nothing of this machine's settings.
    env: {
      PATH: [join(process.cwd(), 'node_modules/.bin'), process.env.PATH].join(delimiter),
      HOME: dataDir,
      KEY: demo.key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  });
  const ended = once(child, 'exit');
  const output = await text(child.stdout);
  const [code] = await ended;
  return { output, code };
}

/** Of the demo agent. */
async function chargedUsd(): Promise<number> {
  const res = await fetch(`${demo.base_url}/balance`, { headers: { 'x-api-key': demo.key } });
  const { balance_usd: balance } = z.object({ balance_usd: z.string() }).parse(await res.json());
  return 5 - Number(balance);
}
