import { isRecord } from '#core/is-record.ts';

type Json = Record<string, unknown>;

/**
 * A value of one of several kinds, some of which are no objects. Said by `oneOf`, openapi-generator makes a class without fields
 * of it in Kotlin, in C# and in most of its clients for Java, and sends `{}` in the place of a text, without an error. Said by `if`
 * and `else` it is the same set of values, and any value to a generator. Null stands with the last kind.
 */
export function writeChoice(options: readonly Json[]): Json {
  const [first = {}, ...others] = options.filter(({ type }) => type !== 'null');
  if (others.length === 0) return options.length > 1 ? orNull(first) : first;
  const nulls = options.filter(({ type }) => type === 'null');
  return { if: first, else: writeChoice([...others, ...nulls]) };
}

const orNull = (schema: Json): Json =>
  typeof schema.type === 'string'
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] };

export const canChoose = (options: readonly Json[]): boolean =>
  options.some(({ type }) => typeof type === 'string' && SIMPLE_TYPES.has(type));

const SIMPLE_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean']);

/** The document with each choice said by `oneOf`, for generators and tools that read a union, and make a better type of it. */
export function readChoices(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(readChoices);
  if (!isRecord(node)) return node;
  const read = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, readChoices(value)]));
  const { if: first, else: others, ...rest } = read;
  if (!isRecord(first) || !isRecord(others)) return read;
  return { ...rest, oneOf: [first, ...optionsOf(others)] };
}

function optionsOf(schema: Json): unknown[] {
  const { oneOf, anyOf, type, ...rest } = schema;
  if (Array.isArray(oneOf)) return oneOf;
  if (Array.isArray(anyOf)) return anyOf;
  if (!Array.isArray(type)) return [schema];
  return [{ ...rest, type: type.find((name) => name !== 'null') }, { type: 'null' }];
}
