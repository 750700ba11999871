import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { makeSdk } from '../../openapi/sdk/make-sdk.ts';
import { readText } from '../docs/repository-files.ts';
import { hasTool } from '../tools/tool.ts';

/** As somebody types it, whatever the locale of this machine. */
function make(...words: string[]) {
  const env = { PATH: process.env.PATH, LANG: 'en_GB.UTF-8' };
  const { status, stderr } = spawnSync('make', ['sdk', ...words], { env, encoding: 'utf8' });
  return { status, told: stderr.split('\n')[0] };
}

it.each([
  ['no language', []],
  ['a language that it has not', ['LANG=rust']],
  ['a language that is a command', ["LANG='; echo done >&2;'"]],
])('make sdk with %s says which there are', (_, words) => {
  const languages = 'make sdk LANG=typescript, make sdk LANG=python, make sdk LANG=go';
  expect(make(...words)).toEqual({
    status: 2,
    told: `Say which SDK: ${languages}. How any other is made stands in openapi/README.md.`,
  });
});

it.skipIf(!hasTool('openapi-ts'))(
  'what make sdk says to import from the TypeScript SDK is there',
  async () => {
    const said = /import \{ (.+) \} from '\.\/faregate\/(.+\.ts)'/.exec(readText('openapi/sdk/main.ts'));
    const [, names = 'nothing', file = ''] = said ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'faregate-sdk-'));
    makeSdk('typescript', join(folder, 'typescript'));
    const exported = Object.keys(await import(join(folder, 'typescript', file)));
    const { mode } = statSync(join(folder, 'typescript'));
    rmSync(folder, { recursive: true });
    // Whoever builds with it may be another user.
    expect(mode & 0o777).toBe(0o755);
    expect(exported).toEqual(expect.arrayContaining(names.split(', ')));
  },
);

it('leaves the SDK that is there as it is where no new one can be made', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-sdk-'));
  const old = join(folder, 'typescript');
  mkdirSync(old);
  writeFileSync(join(old, 'index.ts'), 'old');
  vi.stubEnv('NODE_OPTIONS', '--no-such-option');
  expect(() => makeSdk('typescript', old)).toThrow();
  vi.unstubAllEnvs();
  expect(() => makeSdk('typescript', join(old, 'index.ts', 'typescript'))).toThrow(/ENOTDIR|EEXIST/);
  expect(readdirSync(folder, { recursive: true })).toEqual(['typescript', 'typescript/index.ts']);
  rmSync(folder, { recursive: true });
});
