import { isRecord } from '#core/is-record.ts';

/*
 * Claude reads the schema of a tool by draft 2020-12 of JSON Schema, and the newer models refuse the whole call for a tool whose
 * schema is not of that draft. Generators write older drafts, and other vendors take them. Public reports have each form:
 * openclaw/openclaw#98588 (`items` as a list), Dokploy/mcp#74 and homeassistant-ai/ha-mcp#2361 (`exclusiveMinimum: true`),
 * agno-agi/agno#2791 (a type that is no type).
 */

type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema, a list of schemas, or a schema for each name. */
const INNER = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const INNER_LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const INNER_BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

const TYPES: ReadonlySet<string> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
]);
/** What programming languages call them. */
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ...(['dict', 'map'] as const).map((name) => [name, 'object'] as const),
  ...(['list', 'tuple'] as const).map((name) => [name, 'array'] as const),
  ...(['str', 'text'] as const).map((name) => [name, 'string'] as const),
  ...(['float', 'double'] as const).map((name) => [name, 'number'] as const),
  ...(['int', 'long'] as const).map((name) => [name, 'integer'] as const),
  ['bool', 'boolean'],
]);

/** Rewrites a schema of an older draft. One that is of the newer draft is returned as it is. */
export function modernSchema(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const changes = { ...innerChanges(schema), ...ownChanges(schema) };
  if (Object.keys(changes).length === 0) return schema;
  return Object.fromEntries(
    Object.entries({ ...schema, ...changes }).filter(([, value]) => value !== undefined),
  );
}

/** The keywords whose schemas change. */
function innerChanges(schema: Schema): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  const set = (keyword: string, value: unknown): void => {
    if (value !== schema[keyword]) changes[keyword] = value;
  };
  for (const keyword of INNER) if (isRecord(schema[keyword])) set(keyword, modernSchema(schema[keyword]));
  for (const keyword of INNER_LISTS)
    if (Array.isArray(schema[keyword])) set(keyword, eachModern(schema[keyword]));
  for (const keyword of INNER_BY_NAME) {
    const named = schema[keyword];
    if (isRecord(named)) set(keyword, namedModern(named));
    // Some languages have one word for an empty list and an empty object.
    else if (Array.isArray(named) && named.length === 0) set(keyword, {});
  }
  return changes;
}

function eachModern(schemas: readonly unknown[]): readonly unknown[] {
  const modern = schemas.map(modernSchema);
  return modern.some((each, index) => each !== schemas[index]) ? modern : schemas;
}

function namedModern(schemas: Schema): Schema {
  const entries = Object.entries(schemas);
  const modern = entries.map(([name, each]): [string, unknown] => [name, modernSchema(each)]);
  return modern.some(([, each], index) => each !== entries[index]?.[1])
    ? Object.fromEntries(modern)
    : schemas;
}

/** The schema's own keywords that change; `undefined`: the keyword is left out. */
function ownChanges(schema: Schema): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema))
    if (value === null && keyword !== 'const' && keyword !== 'default') changes[keyword] = undefined;
  changeType(schema, changes);
  changeItems(schema, changes);
  changeRequired(schema, changes);
  changeBound(schema, 'exclusiveMinimum', 'minimum', changes);
  changeBound(schema, 'exclusiveMaximum', 'maximum', changes);
  return changes;
}

function changeType({ type }: Schema, changes: Record<string, unknown>): void {
  if (typeof type === 'string') {
    if (!TYPES.has(type)) changes.type = TYPE_NAMES.get(type);
    return;
  }
  if (!Array.isArray(type) || (type.length > 0 && type.every((each) => TYPES.has(each)))) return;
  const names = type.flatMap((each: unknown) => {
    if (typeof each !== 'string') return [];
    return TYPES.has(each) ? [each] : (TYPE_NAMES.get(each) ?? []);
  });
  // A name that stands for no type may stand for any.
  changes.type = names.length === 0 || names.length < type.length ? undefined : [...new Set(names)];
}

/** A list of schemas, one for each place, has another keyword now, and so has the schema of the places behind it. */
function changeItems({ items, additionalItems }: Schema, changes: Record<string, unknown>): void {
  if (!Array.isArray(items)) return;
  const places = Array.isArray(changes.items) ? changes.items : items;
  if (places.length > 0) changes.prefixItems = places;
  changes.items = isRecord(additionalItems) ? modernSchema(additionalItems) : undefined;
  if (additionalItems === false) changes.items = false;
  if (additionalItems !== undefined) changes.additionalItems = undefined;
}

/** A property said of itself that it is required; now the object says it. */
function changeRequired(schema: Schema, changes: Record<string, unknown>): void {
  if (typeof schema.required === 'boolean') changes.required = undefined;
  if (!isRecord(schema.properties)) return;
  const needed = Object.entries(schema.properties).flatMap(([name, each]) =>
    isRecord(each) && each.required === true ? [name] : [],
  );
  if (needed.length === 0) return;
  changes.required = [...new Set([...(Array.isArray(schema.required) ? schema.required : []), ...needed])];
}

/** A bound that was exclusive by a flag is a bound of its own. */
function changeBound(
  schema: Schema,
  exclusive: 'exclusiveMinimum' | 'exclusiveMaximum',
  inclusive: 'minimum' | 'maximum',
  changes: Record<string, unknown>,
): void {
  if (typeof schema[exclusive] !== 'boolean') return;
  const bound = schema[exclusive] ? schema[inclusive] : undefined;
  changes[exclusive] = bound;
  if (bound !== undefined) changes[inclusive] = undefined;
}
