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

const IN: ReadonlySet<string> = new Set(INNER);
const IN_LISTS: ReadonlySet<string> = new Set(INNER_LISTS);
const BY_NAME: ReadonlySet<string> = new Set(INNER_BY_NAME);

const TYPES: ReadonlySet<string> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
]);
/** The names that programming languages have for them. */
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ...(['dict', 'map'] as const).map((name) => [name, 'object'] as const),
  ...(['list', 'tuple'] as const).map((name) => [name, 'array'] as const),
  ...(['str', 'text'] as const).map((name) => [name, 'string'] as const),
  ...(['float', 'double'] as const).map((name) => [name, 'number'] as const),
  ...(['int', 'long'] as const).map((name) => [name, 'integer'] as const),
  ['bool', 'boolean'],
]);

const SAYS_NOTHING: ReadonlySet<string> = new Set([
  '',
  'any',
  'none',
  'null',
  'undefined',
  'unknown',
  'mixed',
]);

/** Rewrites a schema of an older draft. One that is of the newer draft, as most are, is returned as it is. */
export const modernSchema = (schema: unknown): unknown => (isModern(schema) ? schema : rewritten(schema));

function isModern(schema: unknown): boolean {
  if (!isRecord(schema)) return true;
  for (const keyword of Object.keys(schema)) if (!isModernMember(keyword, schema[keyword])) return false;
  return true;
}

function isModernMember(keyword: string, value: unknown): boolean {
  if (value === null) return keyword === 'const' || keyword === 'default';
  switch (keyword) {
    case 'type':
      return (Array.isArray(value) ? value : [value]).every(
        (name) => typeof name === 'string' && TYPES.has(name),
      );
    case 'required':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value !== 'boolean';
    case 'items':
      return !Array.isArray(value) && isModern(value);
  }
  if (typeof value !== 'object') return true;
  if (Array.isArray(value)) return IN_LISTS.has(keyword) ? value.every(isModern) : !BY_NAME.has(keyword);
  return BY_NAME.has(keyword) ? Object.values(value).every(isModern) : !IN.has(keyword) || isModern(value);
}

function rewritten(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const inner = innerChanges(schema);
  const changes = { ...inner, ...ownChanges(schema, inner) };
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
  for (const keyword of INNER) if (isRecord(schema[keyword])) set(keyword, rewritten(schema[keyword]));
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
  const modern = schemas.map(rewritten);
  return modern.some((each, index) => each !== schemas[index]) ? modern : schemas;
}

function namedModern(schemas: Schema): Schema {
  const entries = Object.entries(schemas);
  const modern = entries.map(([name, each]): [string, unknown] => [name, rewritten(each)]);
  return modern.some(([, each], index) => each !== entries[index]?.[1])
    ? Object.fromEntries(modern)
    : schemas;
}

/** The schema's own keywords that change; `undefined`: the keyword is left out. */
function ownChanges(schema: Schema, inner: Schema): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema))
    if (value === null && keyword !== 'const' && keyword !== 'default') changes[keyword] = undefined;
  changeType(schema, changes);
  changeItems({ ...schema, ...inner }, changes);
  changeRequired(schema, changes);
  changeBound(schema, 'exclusiveMinimum', 'minimum', changes);
  changeBound(schema, 'exclusiveMaximum', 'maximum', changes);
  return changes;
}

/** A name that stands for no type is left out, and a name that may tell the model something stands in the description. */
function changeType({ type, description }: Schema, changes: Record<string, unknown>): void {
  const names: unknown[] = Array.isArray(type) ? type : [type];
  if (names.length === 0 || !names.every((name) => typeof name === 'string')) return;
  if (names.every((name) => TYPES.has(name))) return;
  const types = names.map((name) => (TYPES.has(name) ? name : TYPE_NAMES.get(name)));
  if (!types.includes(undefined)) {
    changes.type = Array.isArray(type) ? [...new Set(types)] : types[0];
    return;
  }
  changes.type = undefined;
  const told = names.filter((name) => !SAYS_NOTHING.has(name.toLowerCase()));
  if (told.length === 0) return;
  const before = typeof description === 'string' ? `${description}\n\n` : '';
  changes.description = `${before}{type: ${told.join(', ')}}`;
}

/** A list of schemas, one for each place, has another keyword now, and so has the schema of the places behind it. */
function changeItems({ items, additionalItems }: Schema, changes: Record<string, unknown>): void {
  if (!Array.isArray(items)) return;
  if (items.length > 0) changes.prefixItems = items;
  changes.items = isRecord(additionalItems) ? rewritten(additionalItems) : undefined;
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
