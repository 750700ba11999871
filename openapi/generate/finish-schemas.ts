import { isRecord } from '#core/is-record.ts';
import { canChoose, readChoices, writeChoice } from './choice.ts';

type Json = Record<string, unknown>;

/**
 * Rewrites every schema of a document so that generated SDKs compile and, above all, survive what a later
 * release adds: open objects and open enums in answers, 64-bit integers, no unions that a generator cannot
 * read. Drops components that nothing refers to and sorts the rest, so that the text is stable.
 */
export function finishSchemas(document: object): object {
  const tidied = mapSchemas(structuredClone(document));
  const components: Json = isRecord(tidied) && isRecord(tidied.components) ? tidied.components : {};
  const schemas: Json = isRecord(components.schemas) ? components.schemas : {};
  // An object that stands beside a text in a union is sent by its run-time type, where a map would be sent empty.
  const isStrict = (name: string) => isRecord(schemas[name]) && schemas[name].additionalProperties === false;
  const parts = unionParts(schemas).filter((name) => !isStrict(name));
  const plain = new Set([...reach(schemas, refsIn(answersOf(tidied))), ...parts]);
  const named = Object.entries(schemas).map(([name, schema]) => [name, tidy(schema, plain.has(name))]);
  const merged = mergeTwins({
    ...Object(tidied),
    components: { ...components, schemas: Object.fromEntries(named) },
  });
  return dropUnused(merged);
}

/** Every schema outside of `components.schemas` stands under the key `schema`. */
function mapSchemas(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(mapSchemas);
  if (!isRecord(node)) return node;
  return mapValues(node, (value, key) => {
    // A parameter is refused unless it is one of those that are named.
    if (key === 'schema') return node.in === 'query' && hasEnum(value) ? value : tidy(value, true);
    return key === 'example' || key === 'examples' || key === 'schemas' ? value : mapSchemas(value);
  });
}

const hasEnum = (schema: unknown): boolean => isRecord(schema) && Array.isArray(schema.enum);

const SCHEMA_MAPS = new Set(['properties', 'patternProperties']);
const SCHEMA_LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const SCHEMA_VALUES = new Set(['items', 'additionalProperties', 'not']);

/** `isPlain`: an object of it does not say that it is open. */
function tidy(schema: unknown, isPlain: boolean): unknown {
  if (!isRecord(schema)) return schema;
  const inner = mapValues(schema, (value, key) => {
    if (SCHEMA_MAPS.has(key) && isRecord(value))
      return mapValues(value, (each) => plainNull(tidy(each, isPlain)));
    if (SCHEMA_LISTS.has(key) && Array.isArray(value)) return value.map((each) => tidy(each, isPlain));
    return SCHEMA_VALUES.has(key) ? tidy(value, isPlain) : value;
  });
  return openEnum(openObject(plainNumber(plainUnion(inner)), isPlain));
}

/**
 * One generator stops at a union inside a union, another at `type` with two names beside null. Several kinds of objects are
 * said by `oneOf`: of `anyOf` openapi-generator makes an empty object in Rust and TypeScript.
 */
function plainUnion(schema: Json): Json {
  const { type } = schema;
  if (Array.isArray(type) && type.filter((name) => name !== 'null').length > 1) {
    const { type: _, ...rest } = schema;
    return { ...rest, ...writeUnion(type.map((name) => plainNumber({ type: name }))) };
  }
  const union = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(union)) return schema;
  const options: Json[] = union.flatMap(unionInside);
  const [other, ...more] = options.filter(({ type: name }) => name !== 'null');
  const { anyOf: _, oneOf: __, ...rest } = schema;
  if (other === undefined || (more.length === 0 && (options.length !== 2 || typeof other.type !== 'string')))
    return schema;
  if (more.length > 0) return { ...writeUnion(options), ...rest };
  if (options.length !== 2 || typeof other?.type !== 'string') return schema;
  return { ...rest, ...other, ...describe(rest, other.description), type: [other.type, 'null'] };
}

const writeUnion = (options: Json[]): Json =>
  canChoose(options) ? writeChoice(options) : { oneOf: options };

function unionInside(option: Json): Json[] {
  const said = readChoices(option);
  const union = isRecord(said) ? said.oneOf : undefined;
  return Array.isArray(union) && Object.keys(Object(said)).length === 1 ? union : [option];
}

/**
 * A field that is always null. openapi-generator takes the type for the name of a class, which it does not write, and ogen does
 * not compile with a constant null. Both make any value of what is not anything else.
 */
function plainNull(schema: unknown): unknown {
  if (!isRecord(schema) || schema.type !== 'null') return schema;
  const { type: _, ...rest } = schema;
  return { description: 'Always null.', ...rest, not: { not: { type: 'null' } } };
}

const SAFE = Number.MAX_SAFE_INTEGER;
const INT32_MAX = 2_147_483_647;

/**
 * Without a format some SDKs read an integer as 32 bits, and milliseconds wrap to a negative number in
 * silence; and any other number as a 32-bit float, which rounds what a call cost to seven digits.
 */
function plainNumber(schema: Json): Json {
  const { pattern, minimum, maximum, exclusiveMinimum: above, propertyNames: _, ...rest } = schema;
  const tidied: Json = { ...rest };
  // One generator refuses a document in which a whole number is above another.
  if (typeof above === 'number' && hasType(rest, 'integer')) tidied.minimum = above + 1;
  else if (above !== undefined) tidied.exclusiveMinimum = above;
  if (minimum !== undefined && minimum !== -SAFE) tidied.minimum = minimum;
  if (maximum !== undefined && maximum !== SAFE) tidied.maximum = maximum;
  // The format says it all; the pattern beside it is unreadable and checked twice.
  if (pattern !== undefined && rest.format === undefined) tidied.pattern = pattern;
  const isInteger = hasType(rest, 'integer');
  const isSmall = typeof maximum === 'number' && maximum <= INT32_MAX;
  if (isInteger && !isSmall && rest.format === undefined) tidied.format = 'int64';
  if (hasType(rest, 'number') && rest.format === undefined) tidied.format = 'double';
  return tidied;
}

const hasType = ({ type }: Json, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));

/**
 * An object takes other fields unless its schema forbids them. `additionalProperties: true` would say so again, and
 * openapi-generator makes a map of such an object, in Kotlin and in some of its clients for Java, which loses the fields
 * that have names. Most objects of requests say it all the same: a client in Go or TypeScript could not send a field that
 * has no name here otherwise.
 */
function openObject(schema: Json, isPlain: boolean): Json {
  const { additionalProperties: more, ...rest } = schema;
  const isOpen = isRecord(more) && Object.keys(more).length === 0;
  if (isPlain && rest.properties !== undefined && (isOpen || typeof more === 'boolean')) return rest;
  return isOpen ? { ...rest, additionalProperties: true } : schema;
}

/** A closed enum makes an old SDK throw on a value that was added later. */
function openEnum(schema: Json): Json {
  const { enum: values, ...rest } = schema;
  if (!Array.isArray(values) || values.length < 2 || schema.type !== 'string') return schema;
  const text = `One of: ${values.join(', ')}. New values may be added.`;
  return { ...rest, ...describe(rest, text), 'x-extensible-enum': values };
}

function describe({ description }: Json, more: unknown): Json {
  const parts = [description, more].filter((part) => typeof part === 'string');
  return parts.length === 0 ? {} : { description: parts.join(' ') };
}

/**
 * A schema in both a request and an answer comes out twice, as `X` and `XOutput`; opened, they are the same.
 */
function mergeTwins(document: Json): Json {
  const schemas = schemasOf(document);
  let text = JSON.stringify(document);
  for (const name of Object.keys(schemas)) {
    const base = name.replace(/Output$/, '');
    if (base === name || !(base in schemas)) continue;
    const same = JSON.stringify(schemas[name]).replaceAll('Output"', '"') === JSON.stringify(schemas[base]);
    if (same) text = text.replaceAll(`"#/components/schemas/${name}"`, `"#/components/schemas/${base}"`);
  }
  return JSON.parse(text);
}

function dropUnused(document: Json): object {
  const schemas = schemasOf(document);
  const components = isRecord(document.components) ? document.components : {};
  const { schemas: _, ...others } = components;
  const used = reach(schemas, refsIn({ paths: document.paths, others }));
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  const sorted = mapValues({ ...others, schemas: Object.fromEntries(kept) }, (group) => sortKeys(group));
  return { ...document, components: sortKeys(sorted) };
}

const schemasOf = (document: Json): Json =>
  isRecord(document.components) && isRecord(document.components.schemas) ? document.components.schemas : {};

/** The schemas that a union names beside a text, alone or as the items of an array. */
function unionParts(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(unionParts);
  if (!isRecord(node)) return [];
  const options: unknown[] = [node.anyOf ?? node.oneOf ?? []].flat();
  const hasText = options.some((option) => isRecord(option) && option.type === 'string');
  return [...(hasText ? refsIn(options) : []), ...Object.values(node).flatMap(unionParts)];
}

/** Every `responses` of the document's operations. */
function answersOf(node: unknown): unknown[] {
  if (Array.isArray(node)) return node.flatMap(answersOf);
  if (!isRecord(node)) return [];
  return Object.entries(node).flatMap(([key, value]) => (key === 'responses' ? [value] : answersOf(value)));
}

const refsIn = (node: unknown): string[] =>
  [...(JSON.stringify(node) ?? '').matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
    (match) => match[1] ?? '',
  );

/** The schemas that `names` lead to, themselves included. */
function reach(schemas: Json, names: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const queue = [...names];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    queue.push(...refsIn(schemas[name]));
  }
  return seen;
}

function mapValues(record: Json, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

const sortKeys = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
