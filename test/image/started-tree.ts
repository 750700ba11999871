import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tree } from '../../image/build-tree.ts';
import { enterTree } from '../../image/enter-tree.ts';

export interface StartedTree {
  child: ChildProcess;
  output(): string;
  /** What is on its standard output once it holds these words. */
  says(words: string): Promise<string>;
  exit: Promise<number | null>;
}

const SAYS_MS = 30_000;

/** A process of the image as its engine would start it: its user, its environment, and nothing to write to but /tmp and data. */
export function startTree(
  tree: Tree,
  options: { args?: readonly string[]; env?: Record<string, string>; data: string },
): StartedTree {
  const { settings } = tree;
  const { args = settings.command, env = {}, data } = options;
  const [program, ...rest] = enterTree({
    tree: tree.path,
    folder: settings.workdir,
    user: settings.user,
    mode: 'ro',
    data,
    command: [...settings.entrypoint, ...args],
  });
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', ...settings.env, ...env },
  });
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
      for (const listener of listeners) listener();
    });
  }
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    output: () => text,
    exit,
    says: (words) =>
      new Promise((resolve, reject) => {
        const fail = () => reject(new Error(`It never said ${words}: ${text.slice(-2_000)}`));
        const timer = setTimeout(fail, SAYS_MS);
        const look = () => {
          if (!text.includes(words)) return;
          clearTimeout(timer);
          listeners.delete(look);
          resolve(text);
        };
        listeners.add(look);
        void exit.then(() => (text.includes(words) ? look() : fail()));
        look();
      }),
  };
}

/** A data folder that belongs to the image's user. */
export function dataOf({ settings }: Tree): { path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-image-'));
  const path = join(folder, 'data');
  mkdirSync(path, { mode: 0o700 });
  const [user = 0, group = 0] = settings.user.split(':').map(Number);
  chownSync(path, user, group);
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}
