import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY } from '../accounts/private-file.ts';
import { type BillStore, formatMark, parseMark } from './bill-store.ts';

export const BILLS_FILE = 'provider-bills.json';

const content = z.object({
  recorded: z.record(z.string(), z.string().regex(/^\d+$/)),
  marks: z.record(z.string(), z.string()),
});

/** A small file of its own in the data folder, replaced whole. Whatever cannot be read begins anew: no money hangs on it. */
export function openFileBillStore(dataDir: string): BillStore {
  const path = join(dataDir, BILLS_FILE);
  const state = readState(path);
  let writing: Promise<void> = Promise.resolve();

  /** One after the other: two that write at once would leave the older one behind. */
  function write(): Promise<void> {
    const next = writing.then(() => replaceFile(path, JSON.stringify(state)));
    writing = next.catch(() => {});
    return next;
  }

  return {
    async add(costs) {
      for (const [id, nanoUsd] of costs) {
        state.recorded[id] = (BigInt(state.recorded[id] ?? 0) + nanoUsd).toString();
      }
      await write();
    },
    async read({ name, providerIds }) {
      const text = state.marks[name] ?? '';
      return {
        mark: parseMark(text),
        text,
        recordedNanoUsd: providerIds.reduce((sum, id) => sum + BigInt(state.recorded[id] ?? 0), 0n),
      };
    },
    async replace({ name }, _seen, next) {
      // Nobody else has this folder.
      state.marks[name] = formatMark(next);
      await write();
      return true;
    },
  };
}

function readState(path: string): z.infer<typeof content> {
  try {
    return content.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return { recorded: {}, marks: {} };
  }
}

/** Off this thread: a slow disk stalls no stream. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: OWNER_ONLY, flush: true });
  await rename(`${path}.new`, path);
}
