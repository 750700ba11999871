import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isRecord } from '#core/is-record.ts';
import { readChoices } from '../../openapi/generate/choice.ts';
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
    writeFileSync(file, JSON.stringify(comparable(readChoices(document))));
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
 * oasdiff knows no `x-event-schema`: what a stream's events hold stands in its place, or it would not be compared. It takes
 * two ways to say the same for a change (a whole number above 0 or from 1; an object or null, with or without a name), so one
 * way stands for both. And it lets go what was deprecated for long enough, without a word; here nothing goes.
 */
function comparable(document: unknown): unknown {
  const schemas =
    isRecord(document) && isRecord(document.components) ? Object(document.components.schemas) : {};
  const compare = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(compare);
    if (!isRecord(node)) return node;
    const eventSchema = eventSchemaOf(node);
    if (eventSchema !== null) return eventSchema;
    const { deprecated, ...rest } = withWholeMinimum(withoutUnionOfNull(node, schemas));
    const kept = deprecated === true ? rest : { ...rest, deprecated };
    return Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, compare(value)]));
  };
  return compare(document);
}

type Json = Record<string, unknown>;

/** Older documents describe one event of a stream as an object whose `data` has the schema. */
function eventSchemaOf(node: Json): Json | null {
  const { data } = isRecord(node.properties) ? node.properties : {};
  const found = node['x-event-schema'] ?? (isRecord(data) ? data['x-event-schema'] : null);
  return isRecord(found) ? found : null;
}

function withWholeMinimum(node: Json): Json {
  const { exclusiveMinimum: above, ...rest } = node;
  const isWhole = [node.type].flat().includes('integer');
  return isWhole && typeof above === 'number' ? { minimum: above + 1, ...rest } : node;
}

function withoutUnionOfNull(node: Json, schemas: Json): Json {
  const { anyOf, ...rest } = node;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || Object(anyOf[1]).type !== 'null') return node;
  const named = schemas[String(Object(anyOf[0]).$ref).replace('#/components/schemas/', '')];
  return isRecord(named) && named.type === 'object' ? { ...named, ...rest, type: ['object', 'null'] } : node;
}
