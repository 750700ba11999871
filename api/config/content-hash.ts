import { createHash } from 'node:crypto';
import type { ReadFile } from './resolve-secrets.ts';

/** Equal hashes mean the same files with the same content. `null`: a file that cannot be read. */
export function contentHash(texts: ReadonlyMap<string, string | null>): string {
  const hash = createHash('sha256');
  for (const [file, text] of texts) hash.update(JSON.stringify([file, text]));
  return hash.digest('base64');
}

export async function readTexts(
  files: readonly string[],
  readFile: ReadFile,
): Promise<Map<string, string | null>> {
  const texts = new Map<string, string | null>();
  for (const file of files) texts.set(file, await readFile(file).catch(() => null));
  return texts;
}

/** Passes reads through and notes what each of them found. */
export function noteReads(readFile: ReadFile, texts: Map<string, string | null>): ReadFile {
  return async (path) => {
    texts.set(path, null);
    const text = await readFile(path);
    texts.set(path, text);
    return text;
  };
}
