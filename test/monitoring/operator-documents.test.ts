import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const CHART = join(import.meta.dirname, '../../charts/faregate');
const DOCS = join(CHART, 'docs');

const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, unknown>;
const config = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../openapi/config.schema.json'), 'utf8'),
) as Schema;

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** `config.…` is the server's configuration, of which the values show a part. */
function exists(path: readonly string[]): boolean {
  if (path[0] === 'config') {
    let at: Schema | undefined = config;
    for (const name of path.slice(1)) at = (at?.items ?? at)?.properties?.[name];
    return at !== undefined;
  }
  let at: unknown = values;
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, unknown>)[name];
  }
  return true;
}

const blocks = Object.keys(values).filter((name) => name !== 'image');

test.each(readdirSync(DOCS).map((name) => [name]))('docs/%s names only values that the chart has', (name) => {
  const text = readFileSync(join(DOCS, name), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const spans = [...text.matchAll(/`([a-zA-Z0-9.]+)(?:: [^`]*)?`/g)].map(([, span = '']) => span.split('.'));
  const named = spans.filter((path) => path.length > 1 && blocks.includes(path[0] ?? ''));
  expect(named.filter((path) => !exists(path)).map((path) => path.join('.'))).toEqual([]);
});

test('a value that is gone would be noticed', () => {
  expect(exists(['api', 'replicas'])).toBe(true);
  expect(exists(['config', 'capacity', 'poolUsd'])).toBe(true);
  expect(exists(['api', 'replicaCount'])).toBe(false);
  expect(exists(['config', 'capacity', 'pool'])).toBe(false);
});
