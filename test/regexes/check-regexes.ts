import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AllowedRegex } from './allowed-regexes.ts';
import { type FoundRegex, findRegexes, type UnreadRegex } from './find-regexes.ts';
import { judgeAll, type Verdict } from './judge-regexes.ts';

/** What strangers' words reach: all that runs in a gateway or a worker, and the programs that are served to browsers. */
const SOURCES = ['{api,workers}/**/*.{ts,js,cjs}'];

/** Every pattern of the sources that may cost more than linear time and is not allowed to, in sentences. */
export async function checkRegexes(
  root: string,
  allowed: readonly AllowedRegex[],
  cacheFile: string,
): Promise<string[]> {
  const found: FoundRegex[] = [];
  const unread: UnreadRegex[] = [];
  for (const file of globSync(SOURCES, { cwd: root }).sort()) {
    const regexes = findRegexes(file, readFileSync(join(root, file), 'utf8'));
    found.push(...regexes.found);
    unread.push(...regexes.unread);
  }
  const isAllowed = (file: string, pattern: string): boolean =>
    allowed.some((each) => each.file === file && each.pattern === pattern);
  // What is allowed is not judged: some of it takes minutes.
  const judged = found.filter(({ file, source }) => !isAllowed(file, source));
  const verdicts = await judgeAll(judged, cacheFile);
  return [
    ...judged.flatMap((regex, at) => describe(regex, verdicts[at])),
    ...unread
      .filter(({ file, text }) => !isAllowed(file, text))
      .map(({ file, line, text }) => `${file}:${line}: ${text} makes a pattern of what cannot be read here.`),
    ...allowed
      .filter(
        ({ file, pattern }) =>
          !found.some((each) => each.file === file && each.source === pattern) &&
          !unread.some((each) => each.file === file && each.text === pattern),
      )
      .map(
        ({ file, pattern }) => `${file} has no pattern ${pattern} any more: remove it from what is allowed.`,
      ),
  ];
}

function describe({ file, line, source, flags }: FoundRegex, verdict: Verdict | undefined): string[] {
  if (verdict === undefined || verdict.linear) return [];
  return [`${file}:${line}: /${source}/${flags} may take more than linear time: ${verdict.because}.`];
}
