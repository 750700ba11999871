import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** From the repository's root. */
  path: string;
  text: string;
}

const git = (...args: string[]): string[] =>
  execFileSync('git', ['-C', root, ...args, '-z'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));

/** What is committed, or will be. */
export const trackedFiles = (): string[] => git('ls-files');

/** New files too, so that a mistake is found before it is committed. */
export const workingFiles = (): string[] => git('ls-files', '--cached', '--others', '--exclude-standard');

export const readText = (path: string): string => readFileSync(join(root, path), 'utf8');

export const readAll = (paths: readonly string[]): SourceFile[] =>
  paths.map((path) => ({ path, text: readText(path) }));

/** Without lines that are comments, and without what stands behind a line's code. */
export const withoutComments = (text: string): string =>
  text.replaceAll(/^\s*(\/\/|\/\*|\*).*$/gm, '').replaceAll(/\s\/\/ .*$/gm, '');
