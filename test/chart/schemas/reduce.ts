import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/*
 * `node test/chart/schemas/reduce.ts openapi-v2.json.gz folder-of-custom-resources`: writes the two files of this
 * folder anew from their sources (README.md), without prose and without what no validator reads.
 */
const [openapi = '', folder = ''] = process.argv.slice(2);
const PROSE = new Set([
  'description',
  'default',
  'externalDocs',
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
]);

interface OpenApi {
  definitions: Record<string, { 'x-kubernetes-group-version-kind'?: Record<string, string>[] }>;
}

const { definitions } = JSON.parse(gunzipSync(readFileSync(openapi)).toString()) as OpenApi;
write('kubernetes-1.36.json.gz', withoutProse(definitions, true));

const custom = Object.fromEntries(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .sort()
    .map((path) => [
      `${basename(dirname(path))}/${basename(path, '.json')}`,
      withoutProse(JSON.parse(readFileSync(join(folder, path), 'utf8')) as unknown, false),
    ]),
);
write('custom-resources.json.gz', custom);

/** `named`: the keys are names that somebody chose, `description` among them. */
function withoutProse(value: unknown, named: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutProse(each, false));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => named || !PROSE.has(key))
      .map(([key, each]) => [key, withoutProse(each, key === 'properties' && !named)]),
  );
}

function write(name: string, value: unknown): void {
  writeFileSync(join(import.meta.dirname, name), gzipSync(JSON.stringify(value), { level: 9 }));
}
