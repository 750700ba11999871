import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sdkLanguages } from '../../openapi/sdk/sdk-language.ts';
import { readBlocks } from '../clients/pasted-blocks.ts';
import { missingForSdk } from '../sdk/prepared-tour.ts';
import { until } from '../support/gateway.ts';
import { hasTool, toolPath } from '../tools/tool.ts';

const readme = await readFile('README.md', 'utf8');
const [, clone = ''] = /`(git clone [^`]+)`/.exec(readme) ?? [];
const sectionOf = (title: string) => readBlocks(readme).filter((block) => block.title === title);
const [{ source: run } = { source: '' }] = sectionOf('Run');

const START_MS = 60_000;

let folder: string;
let checkout: string;
let gateway: ChildProcess | undefined;
let printed = '';

function paste(source: string, cwd = checkout): string {
  const python = hasTool('openapi-python-client') ? `${dirname(toolPath('openapi-python-client'))}:` : '';
  // Go keeps what it has compiled below the home folder.
  const env = { ...newcomer(), PATH: `${python}${process.env.PATH}`, HOME: process.env.HOME };
  return execFileSync('sh', ['-e', '-c', source], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const readDemo = async (): Promise<unknown> =>
  JSON.parse(await readFile(join(checkout, '.faregate/demo.json'), 'utf8'));

/** Nothing of this machine's settings. */
const newcomer = () => ({ PATH: process.env.PATH, HOME: folder, PORT: '0', INTERNAL_PORT: '0' });

beforeAll(async () => {
  await mkdir('.cache', { recursive: true });
  folder = await mkdtemp(join(process.cwd(), '.cache', 'newcomer-'));
  checkout = join(folder, 'faregate');
  paste(clone.replace('<this repository>', `'${process.cwd()}'`), folder);
  // What npm would install comes over the network, in a minute. It lies beside, newer than these, and is linked piece by
  // piece: an install that began after all would remove links.
  await mkdir(join(checkout, 'node_modules'));
  for (const name of await readdir('node_modules'))
    await symlink(resolve('node_modules', name), join(checkout, 'node_modules', name));
  for (const file of ['package.json', 'package-lock.json'])
    await utimes(join(checkout, file), new Date(0), new Date(0));
  await mkdir(join(checkout, '.cache'));
  await symlink(resolve('.cache/tools'), join(checkout, '.cache/tools'));

  gateway = spawn('sh', ['-c', `exec ${run}`], {
    cwd: checkout,
    env: newcomer(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const output of [gateway.stdout, gateway.stderr])
    output?.on('data', (chunk) => {
      printed += chunk;
    });
  await until(() => printed.includes('Operate it:'), START_MS);
});
afterAll(async () => {
  if (gateway !== undefined) {
    const ended = once(gateway, 'exit');
    // make, which passes it on and waits.
    if (gateway.kill('SIGTERM')) await ended;
  }
  await rm(folder, { recursive: true });
});

test('after a clone the README has one command to run it and one to test it, and each exists', () => {
  expect(sectionOf('Run').map(({ source }) => source)).toEqual(['make run\n']);
  expect(sectionOf('Test').map(({ source }) => source)).toEqual(['make test\n']);
  expect(readBlocks(readme).slice(0, 2)).toEqual([...sectionOf('Run'), ...sectionOf('Test')]);
  // Its first line is that of its first prerequisite: nothing has to be done before it.
  expect(paste('make --dry-run test')).toContain('run-tests.ts');
});

test('a start prints where everything is and two lines to paste, and nothing else', () => {
  const told = printed.replaceAll(/:\d+\//g, ':PORT/').replaceAll(checkout, 'CHECKOUT');
  expect(told).toBe(STARTED);
});

test('nothing that a start prints holds a key or a token', async () => {
  const { key, admin_token: token } = demoFile.parse(await readDemo());
  expect(printed).not.toContain(key);
  expect(printed).not.toContain(token);
});

test('a line of the README and one that it prints are a paid call', () => {
  const [, tryIt = ''] = /Try it:\n([\s\S]*)\nOperate it:/.exec(printed) ?? [];
  const answer = JSON.parse(paste(tryIt));
  expect(answer).toMatchObject({ usage: { cost: expect.any(Number) } });
  expect(answer.usage.cost).toBeGreaterThan(0);
});

test.skipIf(!hasTool('openapi-ts'))('an SDK says what is in the way where its folder should be', async () => {
  const file = join(checkout, 'sdk');
  await writeFile(file, '');
  expect(() => paste('make sdk LANG=typescript')).toThrow('No SDK was written: sdk is a file. Move it away');
  await rm(file);
});

describe.each(sdkLanguages)(
  'a newcomer who wants an SDK for %s',
  (language) => {
    const reason = missingForSdk(language);
    if (reason !== null) console.warn(`\nSKIPPED: a newcomer's SDK for ${language}. ${reason}\n`);

    test.skipIf(reason !== null)(
      'makes a paid call with one command and one line that it prints',
      async () => {
        const said = paste(`make sdk LANG=${language}`);
        expect(said).toContain(`Wrote sdk/${language} from openapi/v1.json, by `);
        const [, tryIt = ''] = /^Try it: +(.+)$/m.exec(said) ?? [];
        const demo = demoFile.parse(await readDemo());
        const line = `${tryIt.replace('<key>', demo.key)} chat stream`;
        const told = paste(`export FAREGATE_URL=${demo.base_url}\n${line}`);
        const paid = told
          .trim()
          .split('\n')
          .map((each) => paidLine.parse(JSON.parse(each)));
        expect(paid.map(({ operation }) => operation)).toEqual(['chat', 'stream']);
        for (const { cost } of paid) expect(cost).toBeGreaterThan(0);
      },
    );
  },
  120_000,
);

const STARTED = `
Faregate is running.

  API         http://127.0.0.1:PORT/v1
  MCP         http://127.0.0.1:PORT/mcp
  OpenAPI     http://127.0.0.1:PORT/openapi.json
  Docs        http://127.0.0.1:PORT/docs
  Console     http://127.0.0.1:PORT/console
  Admin API   http://127.0.0.1:PORT/admin
  Demo agent  1, with $5 to spend; its key is in .faregate/demo.json

Try it:

  curl http://127.0.0.1:PORT/v1/chat/completions \\
    -H "Authorization: Bearer $(sed -n 's/.*"key": *"\\([^"]*\\)".*/\\1/p' CHECKOUT/.faregate/demo.json)" \\
    -H 'Content-Type: application/json' \\
    -d '{"model":"faregate-sim/small","messages":[{"role":"user","content":"Say hello."}]}'

Operate it:

  make cli ARGS="agents list"

`;

const demoFile = z.object({ base_url: z.string(), key: z.string(), admin_token: z.string() });
const paidLine = z.object({ operation: z.string(), cost: z.number() });
