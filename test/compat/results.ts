import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Check } from './client.ts';
import { MODEL_KINDS, type ModelKind } from './compat-gateway.ts';
import { type ExpectedFailure, expectedFailures } from './expected-failures.ts';

const FILE = join(import.meta.dirname, 'results.json');

const clientResult = z.strictObject({ passed: z.int(), failed: z.array(z.string()), skipped: z.int() });
export type ClientResult = z.infer<typeof clientResult>;

const results = z.record(z.string(), z.partialRecord(z.enum(MODEL_KINDS), clientResult));
/** By client and kind of model, as the last run of each found it. */
export type Results = z.infer<typeof results>;

export const readResults = async (): Promise<Results> =>
  results.parse(JSON.parse(await readFile(FILE, 'utf8')));

export const writeResults = (found: Results): Promise<void> =>
  writeFile(FILE, `${JSON.stringify(found, null, 2)}\n`);

export const expectationFor = (client: string, kind: ModelKind, check: string): ExpectedFailure | undefined =>
  expectedFailures.find(
    (each) =>
      each.client === client &&
      check.startsWith(each.check) &&
      (each.kinds === 'all' || each.kinds.includes(kind)),
  );

/** The part of a run that is stored, and its unexpected outcomes in sentences. */
export function judge(
  client: string,
  kind: ModelKind,
  checks: readonly Check[],
): { result: ClientResult; surprises: string[] } {
  const surprises = checks.flatMap(({ name, outcome, detail }) => {
    const expectation = expectationFor(client, kind, name);
    if (outcome === 'failed' && expectation === undefined) return [`${name} failed: ${detail}`];
    if (outcome === 'passed' && expectation?.check === name)
      return [`${name} passed, but was expected to fail: ${expectation.reason}`];
    return [];
  });
  const failed = checks.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
  return {
    result: {
      passed: checks.filter(({ outcome }) => outcome === 'passed').length,
      failed,
      skipped: checks.filter(({ outcome }) => outcome === 'skipped').length,
    },
    surprises,
  };
}
