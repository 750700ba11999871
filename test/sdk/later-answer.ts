import { isRecord } from '#core/is-record.ts';
import { documentText } from '../support/edge-app.ts';

/** What the document allows of an answer, and no gateway of today says. */
export interface Change {
  /** A new field in every object that is open. */
  fields?: boolean;
  /** A new value in the place of every text that has known ones. */
  values?: boolean;
  /** Null for all that may be null. */
  nulls?: boolean;
}

type Json = Record<string, unknown>;

/** The answer's JSON as a later release could send it, by its schema in the document. */
export function laterAnswer(value: unknown, schema: unknown, change: Change): unknown {
  const told = fitting(value, schema);
  if (value === null || (change.nulls === true && mayBeNull(schema))) return null;
  if (Array.isArray(value)) return value.map((each) => laterAnswer(each, told.items, change));
  if (typeof value === 'string')
    return change.values === true && 'x-extensible-enum' in told ? 'added_later' : value;
  if (!isRecord(value) || !isRecord(told.properties)) return value;
  const { properties } = told;
  const changed = Object.entries(value).map(([name, each]) => [
    name,
    laterAnswer(each, properties[name], change),
  ]);
  const added = change.fields === true ? { added_later: { deep: [1, null, 'text'] } } : {};
  return { ...Object.fromEntries(changed), ...added };
}

/** What this operation answers with this status; of a stream, one event. `null` where the document says nothing. */
export function answerSchema(method: string, path: string, status: number, isStream: boolean): unknown {
  const found = Object.entries(document.paths).find(([template]) => patternOf(template).test(path));
  const operation = found?.[1][method.toLowerCase()];
  const content = resolved(operation?.responses?.[status])?.content;
  if (!isRecord(content)) return null;
  const schema = Object(content[isStream ? 'text/event-stream' : 'application/json']).schema;
  return isStream ? Object(schema)['x-event-schema'] : schema;
}

const document: {
  paths: Record<string, Record<string, { responses?: Record<string, Json> }>>;
  components: Json;
} = JSON.parse(documentText);

const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

function resolved(schema: unknown): Json {
  if (!isRecord(schema)) return {};
  if (typeof schema.$ref !== 'string') return schema;
  const parts = schema.$ref.split('/').slice(1);
  return resolved(parts.reduce<unknown>((at, part) => Object(at)[part], document));
}

const optionsOf = (schema: Json): Json[] => {
  const options = schema.anyOf ?? schema.oneOf;
  return Array.isArray(options) ? options.map(resolved) : [schema];
};

const hasType = ({ type }: Json, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));

const mayBeNull = (schema: unknown): boolean =>
  optionsOf(resolved(schema)).some((option) => hasType(option, 'null'));

/** Of a union the part that has the value's type. */
function fitting(value: unknown, schema: unknown): Json {
  const type = Array.isArray(value) ? 'array' : typeof value;
  const options = optionsOf(resolved(schema));
  return options.find((option) => hasType(option, type)) ?? {};
}
