import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faregate-ticks-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** How often V8 made the hidden class of a tick's record anew. */
async function classesMade(how: 'kept' | 'forgotten', collections: number): Promise<number> {
  const log = join(folder, `${how}-${collections}.log`);
  const program = join(import.meta.dirname, 'tick-program.ts');
  const flags = ['--expose-gc', '--log-maps', `--logfile=${log}`, '--no-logfile-per-isolate'];
  await promisify(execFile)(process.execPath, [...flags, program, how, String(collections)]);
  const lines = (await readFile(log, 'latin1')).split('\n');
  return lines.filter(
    (line) => line.startsWith('map,Transition,') && line.includes('symbol("async_id_symbol"'),
  ).length;
}

test('however often all that is over is collected, V8 keeps what it has learned of ticks', async () => {
  expect(await classesMade('kept', 8)).toBe(1);
});

test('by itself it forgets it: the day on which it does not, nothing has to be kept any more', async () => {
  expect(await classesMade('forgotten', 8)).toBeGreaterThan(1);
});
