import { isRecord } from '#core/is-record.ts';

/** A value that fits a JSON schema: the same one every time, small, and never deeper than the schema's own types. */
export function sampleJson(schema: unknown): unknown {
  return sample(schema, { root: schema, depth: 0 });
}

interface Place {
  root: unknown;
  depth: number;
}

const DEPTH_MAX = 8;
const PROPERTIES_MAX = 100;
const ITEMS_MAX = 16;

function sample(schema: unknown, place: Place): unknown {
  if (!isRecord(schema) || place.depth > DEPTH_MAX) return null;
  const inner = { root: place.root, depth: place.depth + 1 };
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (typeof schema.$ref === 'string') return sample(resolve(place.root, schema.$ref), inner);
  for (const choices of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(choices)) return sample(choices[0], inner);
  }
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return sampleObject(schema, inner);
    case 'array':
      return sampleArray(schema, inner);
    case 'string':
      return 'simulated';
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1;
    case 'boolean':
      return true;
    default:
      return isRecord(schema.properties) ? sampleObject(schema, inner) : null;
  }
}

function sampleObject(schema: Record<string, unknown>, place: Place): unknown {
  if (!isRecord(schema.properties)) return {};
  const properties = Object.entries(schema.properties).slice(0, PROPERTIES_MAX);
  return Object.fromEntries(properties.map(([name, property]) => [name, sample(property, place)]));
}

function sampleArray(schema: Record<string, unknown>, place: Place): unknown {
  const length = typeof schema.minItems === 'number' ? Math.min(schema.minItems, ITEMS_MAX) : 1;
  return Array.from({ length: Math.max(length, 1) }, () => sample(schema.items, place));
}

/** Local references only, such as `#/$defs/city`. */
function resolve(root: unknown, reference: string): unknown {
  let value = root;
  for (const name of reference.split('/').slice(1)) {
    if (!isRecord(value)) return null;
    value = value[name];
  }
  return value;
}
