import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileCache } from '../support/compile-cache.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

/*
 * `make run` as a newcomer meets it: a process of its own, its banner, its demo agent, and its end.
 */
let provider: TestProvider;
let folder: string;
beforeAll(async () => {
  provider = await startTestProvider();
  folder = await mkdtemp(join(tmpdir(), 'faregate-run-'));
});
afterAll(async () => {
  await provider.close();
  await rm(folder, { recursive: true });
});

interface Process {
  output: () => string;
  /** Resolves once the output holds this text. */
  prints(text: string): Promise<void>;
  demo: Record<string, string>;
  signal(name: NodeJS.Signals): void;
  /** To the process and all that it has started, as a terminal or a supervisor does. */
  signalGroup(name: NodeJS.Signals): void;
  exited: Promise<number | null>;
}

const NODE = [process.execPath, 'api/main.ts'] as const;
/** Everything is installed, so `make` must not look at what is newer. */
const MAKE = ['make', '--no-print-directory', '--old-file=node_modules/.package-lock.json', 'run'] as const;

async function run(
  dataDir: string,
  extra: Record<string, string> = {},
  [program, ...args]: typeof NODE | typeof MAKE = NODE,
): Promise<Process> {
  const child = spawn(program, args, {
    detached: true,
    env: {
      PATH: process.env.PATH,
      ...compileCache,
      PORT: '0',
      INTERNAL_PORT: '0',
      FAREGATE_DATA: dataDir,
      ...extra,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const readers = new Set<() => void>();
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    for (const look of readers) look();
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  const exited = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  const prints = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (output.includes(text)) resolve();
      };
      readers.add(look);
      look();
      void exited.then((code) => reject(new Error(`ended with ${code}: ${output}`)));
    });
  await prints('Operate it:');
  const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8').catch(() => '{}'));
  return {
    output: () => output,
    prints,
    demo,
    signal: (name) => void child.kill(name),
    signalGroup: (name) => void process.kill(-(child.pid ?? Number.NaN), name),
    exited,
  };
}

const chat = (demo: Record<string, string>, body: object) =>
  fetch(`${demo.base_url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'Hello' }],
      model: 'faregate-sim/small',
      ...body,
    }),
  });

it('without any configuration it prints a curl that works as pasted, and the balance falls by exactly its cost', async () => {
  const gateway = await run(join(folder, 'fresh'));
  const balance = async () => {
    const res = await fetch(`${gateway.demo.base_url}/balance`, {
      headers: { 'x-api-key': gateway.demo.key ?? '' },
    });
    return JSON.parse(await res.text());
  };
  expect((await balance()).spendable_usd).toBe('5');
  const command = /curl [\s\S]*?(?=\n\s*\n|$)/.exec(gateway.output())?.[0] ?? '';
  const shell = spawn('sh', ['-c', `${command} -s`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let answer = '';
  shell.stdout.on('data', (chunk) => {
    answer += chunk;
  });
  await once(shell, 'close');
  const { usage } = JSON.parse(answer);
  const nano = (usd: string) => BigInt(Math.round(Number(usd) * 1e9));
  expect(nano('5') - nano((await balance()).spendable_usd)).toBe(nano(String(usage.cost)));
  expect((await stat(join(folder, 'fresh', 'demo.json'))).mode & 0o777).toBe(0o600);

  gateway.signal('SIGTERM');
  expect(await gateway.exited).toBe(0);
});

it('SIGTERM lets a running stream finish and settle, takes no new call, and ends with 0', async () => {
  const file = join(folder, 'faregate.yaml');
  await writeFile(file, `providers: [{ id: sim, kind: simulator, baseUrl: ${provider.baseUrl} }]\n`);
  const dataDir = join(folder, 'drain');
  const gateway = await run(dataDir, { FAREGATE_CONFIG: file, FAREGATE_DEMO: '1' });
  provider.next({ chunks: 4, gate: 'drain', gateAt: 600 });
  const res = await chat(gateway.demo, { stream: true });
  await provider.reached('drain');
  gateway.signal('SIGTERM');
  const internal = new URL(gateway.demo.admin_url ?? '').origin;
  await expect.poll(async () => (await fetch(`${internal}/readyz`)).status).toBe(503);
  expect((await fetch(`${internal}/livez`)).status).toBe(200);
  const late = await chat(gateway.demo, {});
  expect([late.status, late.headers.get('connection')]).toEqual([503, 'close']);
  provider.release('drain');
  expect((await res.text()).endsWith('data: [DONE]\n\n')).toBe(true);
  expect(await gateway.exited).toBe(0);

  const again = await run(dataDir, { FAREGATE_CONFIG: file, FAREGATE_DEMO: '1' });
  const balance = await fetch(`${again.demo.base_url}/balance`, {
    headers: { 'x-api-key': again.demo.key ?? '' },
  });
  const { reserved_usd, spendable_usd } = JSON.parse(await balance.text());
  expect(reserved_usd).toBe('0');
  expect(Number(spendable_usd)).toBeLessThan(5);
  expect(again.demo.key).toBe(gateway.demo.key);
  again.signal('SIGINT');
  expect(await again.exited).toBe(0);
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to the process group of make and node is one signal: an open stream finishes and settles',
  async (name) => {
    const file = join(folder, 'faregate.yaml');
    await writeFile(file, `providers: [{ id: sim, kind: simulator, baseUrl: ${provider.baseUrl} }]\n`);
    const gateway = await run(join(folder, name), { FAREGATE_CONFIG: file, FAREGATE_DEMO: '1' }, MAKE);
    provider.next({ chunks: 4, gate: name, gateAt: 600 });
    const res = await chat(gateway.demo, { stream: true });
    await provider.reached(name);
    gateway.signalGroup(name);
    // Two copies that are pending together are one to the kernel: the second must come after the first was heard.
    await gateway.prints('draining');
    gateway.signalGroup(name);
    const internal = new URL(gateway.demo.admin_url ?? '').origin;
    await expect.poll(async () => (await fetch(`${internal}/readyz`)).status).toBe(503);
    provider.release(name);
    expect((await res.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    await gateway.exited;
  },
);

it('nothing that it prints or keeps holds a key, a prompt or a token, except the files made for them', async () => {
  const file = join(folder, 'faregate.yaml');
  const dataDir = join(folder, 'secrets');
  const gateway = await run(dataDir, { FAREGATE_CONFIG: file, FAREGATE_DEMO: '1' });
  const prompt = 'the-planted-prompt-7f3a';
  provider.next({ error: { code: 500, message: prompt }, status: 500 });
  await chat(gateway.demo, { messages: [{ role: 'user', content: prompt }] });
  await chat(gateway.demo, { messages: [{ role: 'user', content: prompt }], tools: 'x' });
  gateway.signal('SIGTERM');
  await gateway.exited;
  const journal = await readFile(join(dataDir, 'ledger.sqlite'), 'latin1');
  for (const text of [journal, gateway.output()]) {
    expect(text).not.toContain(prompt);
    expect(text).not.toContain(gateway.demo.key);
    expect(text).not.toContain(gateway.demo.admin_token);
  }
});

it('a start after the demo key was revoked says so, and neither prints a call nor brings a key back', async () => {
  const dataDir = join(folder, 'revoked');
  const first = await run(dataDir);
  const { agent_id: agentId, admin_url: adminUrl, admin_token: token } = first.demo;
  const headers = { authorization: `Bearer ${token}` };
  const list = await fetch(`${adminUrl}/agents/${agentId}/keys`, { headers });
  const [{ id }] = JSON.parse(await list.text()).keys;
  const revoked = await fetch(`${adminUrl}/agents/${agentId}/keys/${id}/revoke`, { method: 'POST', headers });
  expect(revoked.status).toBe(200);
  first.signal('SIGTERM');
  await first.exited;

  for (let start = 0; start < 2; start++) {
    const again = await run(dataDir);
    expect(again.output()).toContain('was revoked, and stays revoked');
    expect(again.output()).not.toContain('curl');
    expect(again.demo.key).toBe(first.demo.key);
    const refused = await fetch(`${again.demo.base_url}/balance`, {
      headers: { 'x-api-key': again.demo.key ?? '' },
    });
    expect(refused.status).toBe(401);
    again.signal('SIGTERM');
    await again.exited;
  }
});

it('a start with a configuration file makes no demo agent, and a later one names none', async () => {
  const file = join(folder, 'plain.yaml');
  await writeFile(file, `providers: [{ id: sim, kind: simulator, baseUrl: ${provider.baseUrl} }]\n`);
  const dataDir = join(folder, 'plain');
  const gateway = await run(dataDir, { FAREGATE_CONFIG: file });
  expect(gateway.demo).toEqual({});
  expect(gateway.output()).not.toMatch(/demo|curl/i);
  gateway.signal('SIGTERM');
  await gateway.exited;
  const first = await run(join(folder, 'later'));
  first.signal('SIGTERM');
  await first.exited;
  const later = await run(join(folder, 'later'), { FAREGATE_CONFIG: file });
  expect(later.output()).not.toMatch(/demo|curl/i);
  expect(later.demo).toMatchObject({ key: first.demo.key });
  expect(later.output()).toContain(later.demo.admin_url);
  later.signal('SIGTERM');
  await later.exited;
});

it('a second process on the same folder is refused with a sentence that names the folder', async () => {
  const dataDir = join(folder, 'twice');
  const gateway = await run(dataDir);
  await expect(run(dataDir)).rejects.toThrow(dataDir);
  gateway.signal('SIGTERM');
  expect(await gateway.exited).toBe(0);
});
