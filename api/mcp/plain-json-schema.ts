import { z } from 'zod';
import { isRecord } from '#core/is-record.ts';

/** What the protocol wants of the schema of a tool: the root is an object. */
export interface ObjectSchema {
  type: 'object';
  [keyword: string]: unknown;
}

/**
 * A JSON Schema that every client reads: no `$schema`, of which old ones know the wrong one and strict ones only theirs;
 * no `$ref`; one `type` at a time; and nothing that only repeats in another way what `type` and `format` say.
 */
export function plainJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ObjectSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, metadata: withoutIds });
  const plain = tidy(made);
  if (!isRecord(plain)) throw new Error('A schema is no object.');
  return { ...plain, type: 'object' };
}

/** With all below it. Examples and properties are passed like schemas: none of them has a member of these names. */
function tidy(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(tidy);
  if (!isRecord(node)) return node;
  const plain = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, tidy(value)]));
  if (plain.minimum === Number.MIN_SAFE_INTEGER) delete plain.minimum;
  if (plain.maximum === Number.MAX_SAFE_INTEGER) delete plain.maximum;
  if (typeof plain.format === 'string') delete plain.pattern;
  // A client that still has the list of an older release would refuse a record with a new member.
  if (plain.additionalProperties === false) delete plain.additionalProperties;
  if (Array.isArray(plain.type)) {
    plain.anyOf = plain.type.map((type) => ({ type }));
    delete plain.type;
  }
  return plain;
}

/** A schema with an id would become a `$ref`. */
class WithoutIds extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S) {
    const meta = z.globalRegistry.get(schema);
    if (meta === undefined) return undefined;
    const { id: _, ...rest } = meta;
    return rest;
  }
}
const withoutIds = new WithoutIds();
