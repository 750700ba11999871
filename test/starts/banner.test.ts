import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BannerParts, banner } from '../../api/start/banner.ts';
import type { Demo } from '../../api/start/demo.ts';

const KEY = 'fg_theSecretThatNobodyPrints';
const addresses = {
  baseUrl: 'http://127.0.0.1:8080/v1',
  mcpUrl: 'http://127.0.0.1:8080/mcp',
  adminUrl: 'http://127.0.0.1:9090/admin',
};
let dataDir: string;
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'faregate-banner-')), "it's a folder");
  mkdirSync(dataDir);
});
afterEach(() => rmSync(join(dataDir, '..'), { recursive: true }));

const parts = (of: Partial<Demo> | null = {}, models = ['faregate-sim/small']): BannerParts => ({
  addresses,
  dataDir,
  demo: of === null ? null : { ...usable(), ...of },
  models: models.map((id) => ({ id })),
});

const usable = (): Demo => ({
  agentId: 1,
  file: join(dataDir, 'demo.json'),
  key: 'usable',
  status: 'active',
  spendableUsd: '5',
});

/** The pasted lines, with a `curl` that prints its arguments. */
function paste(text: string): string[] {
  const [command = ''] = /curl [\s\S]*?(?=\n\n)/.exec(text) ?? [];
  writeFileSync(join(dataDir, 'demo.json'), JSON.stringify({ agent_id: 1, key: KEY }, null, 2));
  const script = `curl() { printf '%s\\n' "$@"; }\n${command}`;
  return execFileSync('sh', ['-e', '-c', script], { encoding: 'utf8' }).trim().split('\n');
}

test('the call to paste reads the key from its file, in any folder and with any name of it', () => {
  const text = banner(parts());
  expect(text).not.toContain(KEY);
  expect(paste(text)).toEqual([
    'http://127.0.0.1:8080/v1/chat/completions',
    '-H',
    `Authorization: Bearer ${KEY}`,
    '-H',
    'Content-Type: application/json',
    '-d',
    '{"model":"faregate-sim/small","messages":[{"role":"user","content":"Say hello."}]}',
  ]);
  expect(paste(banner(parts({}, [])))).toEqual([
    'http://127.0.0.1:8080/v1/balance',
    '-H',
    `Authorization: Bearer ${KEY}`,
  ]);
});

test('the call is to a model of the simulator where there is one, else to the first', () => {
  expect(banner(parts({}, ['openai/dear', 'faregate-sim/small']))).toContain('"model":"faregate-sim/small"');
  expect(banner(parts({}, ['openai/dear']))).toContain('"model":"openai/dear"');
});

test.each(['revoked', 'lost'] as const)(
  'a start whose demo key is %s prints no call that would fail, and says how to make a key',
  (key) => {
    const text = banner(parts({ key }));
    expect(text).not.toContain('curl');
    expect(text).toContain(key === 'revoked' ? 'was revoked, and stays revoked' : 'does not hold its key');
    expect(text).toContain('make cli ARGS="keys create 1 laptop"');
  },
);

test('what keeps the call from running is said before it, with the command that helps', () => {
  expect(banner(parts())).toContain('\nTry it:\n');
  const broke = banner(parts({ spendableUsd: '0' }));
  expect(broke).toMatch(/no credit left[\s\S]*make cli ARGS="credit grant 1 5"[\s\S]*Then try it:/);
  const suspended = banner(parts({ status: 'suspended' }));
  expect(suspended).toMatch(/It is suspended[\s\S]*make cli ARGS="agents activate 1"[\s\S]*Then try it:/);
});

test('without a demo agent it names none', () => {
  const text = banner(parts(null));
  expect(text).not.toMatch(/demo|curl/i);
  expect(text).toContain('make cli ARGS="agents list"');
});

test('commands name another data folder than the default', () => {
  expect(banner({ ...parts(), dataDir: '/srv/gate' })).toContain('FAREGATE_DATA=/srv/gate make cli');
  expect(banner({ ...parts(), dataDir: join(process.cwd(), '.faregate') })).toContain('\n  make cli');
});
