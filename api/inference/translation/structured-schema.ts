import { isRecord } from '#core/is-record.ts';
import type { NumberMarks } from '../json/number-marks.ts';

/*
 * The schemas that one vendor holds its models to are a part of JSON Schema: a keyword beyond it is refused. Its own clients write
 * such keywords into the description, where the model reads them, and so does this.
 */

/** Keywords whose value is a schema, a list of schemas, or a schema for each name. */
const INNER: ReadonlySet<string> = new Set(['items', 'anyOf', 'allOf']);
const INNER_BY_NAME: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const KEPT: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'const',
  'title',
  'description',
  'default',
  'required',
  '$ref',
]);
const FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** @param marks Those of the numbers in the schema. */
export function structuredSchema(schema: unknown, marks: NumberMarks): unknown {
  if (!isRecord(schema)) return schema;
  const kept: Record<string, unknown> = {};
  const told: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '__proto__') continue;
    // Both at once are two conditions, of which one keyword can hold one.
    if (keyword === 'oneOf' && schema.anyOf === undefined) kept.anyOf = innerOf(value, marks);
    else if (INNER.has(keyword)) kept[keyword] = innerOf(value, marks);
    else if (INNER_BY_NAME.has(keyword)) kept[keyword] = eachOf(value, marks);
    else if (isKept(keyword, value)) kept[keyword] = value;
    else if (keyword !== 'additionalProperties' && keyword !== '$schema')
      told.push(`${keyword}: ${printed(value, marks)}`);
  }
  if (isObjectSchema(schema)) kept.additionalProperties = false;
  if (told.length > 0) {
    const description = typeof schema.description === 'string' ? `${schema.description}\n\n` : '';
    kept.description = `${description}{${told.join(', ')}}`;
  }
  return kept;
}

const isKept = (keyword: string, value: unknown): boolean =>
  KEPT.has(keyword) ||
  (keyword === 'format' && FORMATS.has(value)) ||
  (keyword === 'minItems' && (value === 0 || value === 1));

/** An object of which nothing is known takes no members, so it is not closed. */
const isObjectSchema = ({ type, properties }: Readonly<Record<string, unknown>>): boolean =>
  type === 'object' || isRecord(properties) || (Array.isArray(type) && type.includes('object'));

const innerOf = (value: unknown, marks: NumberMarks): unknown =>
  Array.isArray(value) ? value.map((each) => structuredSchema(each, marks)) : structuredSchema(value, marks);

const eachOf = (value: unknown, marks: NumberMarks): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, structuredSchema(each, marks)]))
    : value;

/** JSON text, whose numbers have their own digits. */
const printed = (value: unknown, marks: NumberMarks): string =>
  (typeof value === 'string' ? marks.numberIn(value) : null) ?? marks.print(value).toString();
