import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isRecord } from '#core/is-record.ts';
import { run } from '../chart/helm.ts';
import { testDataDir } from '../support/data-dir.ts';
import { toolPath } from '../tools/tool.ts';
import { findUnseenBreaks } from './find-unseen-breaks.ts';

/** Something that the older document promised and the newer does not. */
export interface Break {
  /** oasdiff's name for what is wrong, or ours for what it does not see. */
  check: string;
  /** `GET /balance`; `components` where it is of no one operation. */
  operation: string;
  text: string;
}

const SEVERITY = resolve(import.meta.dirname, '../../openapi/oasdiff-severity.txt');

const breaksFound = z.array(
  z.object({
    id: z.string(),
    text: z.string(),
    operation: z.string().default(''),
    path: z.string().default(''),
  }),
);

/** What a client that was made of the older document may fail at with the newer. */
export async function findBreaks(older: unknown, newer: unknown): Promise<Break[]> {
  await using folder = await testDataDir();
  const files = Object.entries({ older, newer }).map(([name, document]) => {
    const file = join(folder.path, `${name}.json`);
    writeFileSync(file, JSON.stringify(comparable(document)));
    return file;
  });
  const options = ['--format=json', `--severity-levels=${SEVERITY}`, '--allow-external-refs=false'];
  const { code, stdout, stderr } = await run(toolPath('oasdiff'), ['breaking', ...files, ...options]);
  if (code !== 0) throw new Error(`oasdiff failed: ${stderr || stdout}`);
  const seen = breaksFound.parse(JSON.parse(stdout)).map(({ id, text, operation, path }) => ({
    check: id,
    operation: operation === '' ? 'components' : `${operation} ${path}`,
    // One line, and no sign that separates the columns of accepted breaks.
    text: text.replaceAll(/\s+/g, ' ').replaceAll(' | ', ' / '),
  }));
  return [...seen, ...findUnseenBreaks(older, newer)];
}

export const readDocument = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/**
 * oasdiff knows no `x-event-schema`: what a stream's events hold stands in its place, or it would not be compared. And it
 * lets go what was deprecated for long enough, without a word; here nothing goes.
 */
function comparable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(comparable);
  if (!isRecord(node)) return node;
  if (isRecord(node['x-event-schema'])) return node['x-event-schema'];
  const kept = Object.entries(node).filter(([key, value]) => !(key === 'deprecated' && value === true));
  return Object.fromEntries(kept.map(([key, value]) => [key, comparable(value)]));
}
