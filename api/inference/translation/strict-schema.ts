import { isRecord } from '#core/is-record.ts';

/*
 * The part of JSON Schema to which servers of the chat format hold a model strictly, as OpenAI documents it. A server refuses the
 * whole call for one schema beyond it, so a caller whose own format allows more is not held to it.
 */

/** Whether a schema is of that part, at every depth. */
export function isStrictSchema(schema: unknown): boolean {
  return isRecord(schema) && schema.type === 'object' && isStrict(schema, { properties: 0, values: 0 }, 1);
}

const DEPTH_MAX = 10;
const PROPERTIES_MAX = 5_000;
const ENUM_VALUES_MAX = 1_000;

const KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'title', 'description', 'enum', 'const', 'anyOf', '$defs', 'definitions', '$schema'],
  ...['properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems'],
  ...['pattern', 'format', 'multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]);
const TYPES: ReadonlySet<unknown> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
]);
const FORMATS: ReadonlySet<unknown> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
]);

/** The schema so far. */
interface Counts {
  properties: number;
  values: number;
}

function isStrict(schema: unknown, counts: Counts, depth: number): boolean {
  if (!isRecord(schema) || depth > DEPTH_MAX) return false;
  // Nothing may stand beside a reference.
  if ('$ref' in schema) return Object.keys(schema).length === 1 && isOwnReference(schema.$ref);
  if (!Object.keys(schema).every((keyword) => KEYWORDS.has(keyword))) return false;
  const { type, anyOf, format, $defs, definitions } = schema;
  const types = Array.isArray(type) ? type : [type];
  const hasType = types.length > 0 && types.every((each) => TYPES.has(each));
  if (type === undefined ? !Array.isArray(anyOf) : !hasType) return false;
  if (format !== undefined && !FORMATS.has(format)) return false;
  if (Array.isArray(schema.enum)) counts.values += schema.enum.length;
  if (counts.values > ENUM_VALUES_MAX) return false;
  return (
    (!types.includes('object') || isClosed(schema, counts, depth)) &&
    (!types.includes('array') || isStrict(schema.items, counts, depth + 1)) &&
    (anyOf === undefined || isStrictChoice(schema, counts, depth)) &&
    [$defs, definitions].every((named) => areStrict(named, counts, depth))
  );
}

/** The schema itself may not be a choice. */
const isStrictChoice = ({ anyOf }: Record<string, unknown>, counts: Counts, depth: number): boolean =>
  depth > 1 &&
  Array.isArray(anyOf) &&
  anyOf.length > 0 &&
  anyOf.every((each) => isStrict(each, counts, depth));

/** An object takes no other properties than its own, and none of these may be missing. */
function isClosed(schema: Record<string, unknown>, counts: Counts, depth: number): boolean {
  const { properties, required, additionalProperties } = schema;
  if (!isRecord(properties) || additionalProperties !== false) return false;
  const names = Object.keys(properties);
  counts.properties += names.length;
  const needed = new Set(Array.isArray(required) ? required : []);
  return (
    counts.properties <= PROPERTIES_MAX &&
    needed.size === names.length &&
    names.every((name) => needed.has(name) && isStrict(properties[name], counts, depth + 1))
  );
}

/** Schemas by their names. */
const areStrict = (named: unknown, counts: Counts, depth: number): boolean =>
  named === undefined ||
  (isRecord(named) && Object.values(named).every((each) => isStrict(each, counts, depth + 1)));

const isOwnReference = (reference: unknown): boolean =>
  typeof reference === 'string' && /^#(?:$|\/(?:\$defs|definitions)\/)/.test(reference);
