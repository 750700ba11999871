import { hash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

type Schema = { [key: string]: unknown };
type Kind = { group: string; version: string; kind: string };

const CACHE = resolve(import.meta.dirname, '../../../.cache');
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** What kubeconform is told: where each kind's schema lies in the folder. It calls the group without a name `v1`. */
export const SCHEMA_LOCATION = '{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json';

/** The folder of one closed JSON schema for each kind, written from this folder's data once. */
export function schemaFolder(): string {
  const sources = ['kubernetes-1.36.json.gz', 'custom-resources.json.gz'].map((name) =>
    readFileSync(join(import.meta.dirname, name)),
  );
  const own = readFileSync(import.meta.filename);
  const folder = join(
    CACHE,
    `chart-schemas-${hash('sha256', Buffer.concat([...sources, own])).slice(0, 12)}`,
  );
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(`${folder}-new-`);
  try {
    const [kubernetes = {}, custom = {}] = sources.map(
      (bytes) => JSON.parse(gunzipSync(bytes).toString()) as Record<string, Schema>,
    );
    for (const [path, schema] of schemasOf(kubernetes, custom)) {
      const file = join(made, `${path}.json`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(schema));
    }
    // Another process may have been first.
    if (!existsSync(folder)) renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return folder;
}

function* schemasOf(
  kubernetes: Record<string, Schema>,
  custom: Record<string, Schema>,
): Generator<[string, Schema]> {
  const definitions = Object.fromEntries(
    Object.entries(kubernetes).map(([name, schema]) => [name, unions[name] ?? closed(schema)]),
  );
  for (const [name, schema] of Object.entries(kubernetes)) {
    const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as Kind[];
    // DeleteOptions and the like belong to every group; nobody writes them down.
    if (kinds.length !== 1) continue;
    for (const { group, version, kind } of kinds)
      yield [`${group || version}/${kind.toLowerCase()}_${version}`, standalone(definitions, name)];
  }
  for (const [path, schema] of Object.entries(custom)) {
    const properties = { ...(schema.properties as Schema), metadata: { $ref: `#/definitions/${META}` } };
    yield [
      path,
      { ...closed({ ...schema, properties }), definitions: standalone(definitions, META).definitions },
    ];
  }
}

/** What OpenAPI calls a string and the API server reads as a number, too. */
const unions: Record<string, Schema> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
};

/** Only objects that stand where a value stands: one that only narrows another (`oneOf`) lists part of its fields. */
function closed(schema: Schema): Schema {
  const result: Schema = { ...schema };
  if (isSchema(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, each]) => [key, isSchema(each) ? closed(each) : each]),
    );
    if (schema['x-kubernetes-preserve-unknown-fields'] !== true) result.additionalProperties ??= false;
  }
  if (isSchema(schema.items)) result.items = closed(schema.items);
  if (isSchema(schema.additionalProperties))
    result.additionalProperties = closed(schema.additionalProperties);
  return result;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** With those definitions that it needs, and no others: a validator compiles all that a file holds. */
function standalone(definitions: Record<string, Schema>, name: string): Schema & { definitions: Schema } {
  const needed: Schema = {};
  const add = (each: string): void => {
    const schema = definitions[each];
    if (schema === undefined || each in needed) return;
    needed[each] = schema;
    for (const [, reference = ''] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g))
      add(reference);
  };
  add(name);
  return { $ref: `#/definitions/${name}`, definitions: needed };
}
