import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** As somebody types it, whatever the locale of this machine. */
function make(...words: string[]) {
  const env = { PATH: process.env.PATH, LANG: 'en_GB.UTF-8' };
  const { status, stderr } = spawnSync('make', ['sdk', ...words], { env, encoding: 'utf8' });
  return { status, told: stderr.split('\n')[0] };
}

it.each([
  ['no language', []],
  ['a language that it has not', ['LANG=rust']],
])('make sdk with %s says which there are', (_, words) => {
  const languages = 'make sdk LANG=typescript, make sdk LANG=python, make sdk LANG=go';
  expect(make(...words)).toEqual({ status: 2, told: `Say which SDK: ${languages}.` });
});
