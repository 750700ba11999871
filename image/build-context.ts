import { readdirSync } from 'node:fs';
import { posix } from 'node:path';

/** Files below a path of the repository that reach a build, past `.dockerignore`. */
export function contextFiles(root: string, path: string, ignoreFile: string): string[] {
  const isKept = keeps(ignoreFile);
  return filesBelow(root, path).filter(isKept);
}

/** Whether a file is not ignored: the last line that fits it, or a folder of it, decides. */
export function keeps(ignoreFile: string): (path: string) => boolean {
  const rules = ignoreFile
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ keeps: line.startsWith('!'), pattern: line.replace(/^!/, '') }));
  return (path) => {
    const names = [path];
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) names.push(folder);
    const rule = rules.findLast(({ pattern }) => names.some((name) => posix.matchesGlob(name, pattern)));
    return rule?.keeps ?? true;
  };
}

/** The file itself, or all below the folder. */
export function filesBelow(root: string, path: string): string[] {
  const below = readdirOrNull(posix.join(root, path));
  if (below === null) return [path];
  return below
    .filter((each) => !each.isDirectory())
    .map((each) => posix.relative(root, posix.join(each.parentPath, each.name)));
}

function readdirOrNull(path: string) {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return null;
    throw error;
  }
}
