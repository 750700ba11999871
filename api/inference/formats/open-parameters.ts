import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { MARK_BEGINNING } from '../json/number-marks.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { FlatRoom, flatSchema } from './flat-schema.ts';
import { mapRecords, records } from './values.ts';

/*
 * The parameters of functions for OpenAI's models, which refuse a call for one function whose schema is a choice, a sum, a list of values
 * or a negation at its top (nspady/google-calendar-mcp#39, goruck/home-generative-agent#545). Such a schema becomes one with the
 * properties of all, as it does for Claude.
 */

type Members = Readonly<Record<string, unknown>>;
type ParameterDialect = Pick<Dialect, 'takesSchemaChoices'>;

/** A schema that such a model takes; the same schema where it takes it as it is. It loses its choice where `room` is used up. */
export function plainParameters(schema: unknown, room: FlatRoom): unknown {
  if (!isRecord(schema) || !REFUSED.some((keyword) => keyword in schema)) return schema;
  const { enum: values, const: value, not, ...flat } = flatSchema(schema, room);
  const told = Object.entries({ enum: values, const: value, not }).flatMap(toldOf);
  if (told.length === 0) return flat;
  const before = typeof flat.description === 'string' ? [flat.description] : [];
  return { ...flat, description: [...before, ...told].join('\n\n') };
}

const REFUSED = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'];

/** A marked number cannot be told in words, because only a whole text is printed without its mark. */
function toldOf([keyword, value]: [string, unknown]): string[] {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text === '' || text.includes(MARK_BEGINNING) ? [] : [`{${keyword}: ${text}}`];
}

/** A list of tools or functions of a chat or of responses; the same list where each is taken as it is. */
function plainTools(tools: unknown, room: FlatRoom): unknown {
  return Array.isArray(tools) ? mapRecords(tools, (tool) => plainTool(tool, room)) : tools;
}

function plainTool(tool: Members, room: FlatRoom): Members {
  if (isRecord(tool.function)) return withPlain(tool, 'function', plainFunction(tool.function, room));
  if (tool.type === 'namespace') return withPlain(tool, 'tools', plainTools(tool.tools, room));
  return plainFunction(tool, room);
}

const withPlain = (tool: Members, member: string, value: unknown): Members =>
  value === tool[member] ? tool : { ...tool, [member]: value };

/** The joined schema leaves properties out of `required`, so the model cannot be held to it. */
function plainFunction(called: Members, room: FlatRoom): Members {
  const parameters = plainParameters(called.parameters, room);
  if (parameters === called.parameters) return called;
  return { ...called, parameters, ...('strict' in called && { strict: false }) };
}

/** The parameters of all functions in a request. */
export interface ParameterFit {
  isEdited: boolean;
  /** By how many bytes, and so tokens at most, the tools are longer. */
  addedTokens: number;
  /** The places of `strict` where a model was to be held to such a schema, and of schemas for which there was no room. */
  unheld: readonly string[];
}

const NOTHING: ParameterFit = { isEdited: false, addedTokens: 0, unheld: [] };
/** Lists of tools in a body. */
const LISTS = ['tools', 'functions'];

export function fitParameters({ takesSchemaChoices }: ParameterDialect, body: Members): ParameterFit {
  if (takesSchemaChoices) return NOTHING;
  const room = new FlatRoom();
  const unheld: string[] = [];
  let addedTokens = 0;
  let isEdited = false;
  const compare = (given: unknown, plain: unknown, path: string): void => {
    if (given === plain) return;
    isEdited = true;
    addedTokens += Math.max(0, bytesOf(plain) - bytesOf(given));
    unheld.push(...unheldIn(given, plain, path, room));
  };
  for (const name of LISTS) compare(body[name], plainTools(body[name], room), name);
  for (const [index, { tools }] of records(body.input).entries())
    if (tools !== undefined) compare(tools, plainTools(tools, room), `input[${index}].tools`);
  return { isEdited, addedTokens, unheld };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function unheldIn(given: unknown, plain: unknown, path: string, room: FlatRoom): string[] {
  const after = records(plain);
  return records(given).flatMap((tool, index) => {
    const at = `${path}[${index}]`;
    if (tool === after[index]) return [];
    if (tool.type === 'namespace') return unheldIn(tool.tools, after[index]?.tools, `${at}.tools`, room);
    const called = isRecord(tool.function) ? tool.function : tool;
    const lost = [...(called.strict === true ? ['strict'] : []), ...(room.isUsedUp ? ['parameters'] : [])];
    return lost.map((member) => `${at}${called === tool ? '' : '.function'}.${member}`);
  });
}

/** Writes the tools as such a model takes them. Most bodies have no such keyword at all, and are not parsed. */
export function writePlainParameters(body: JsonObject, changes: MemberChanges): void {
  const room = new FlatRoom();
  const edit = (name: string, plain: (value: unknown) => unknown): void => {
    if (mayBeRefused(body, name, changes)) editMember(body, name, plain, changes);
  };
  for (const name of LISTS) edit(name, (tools) => plainTools(tools, room));
  edit('input', (items) => plainItems(items, room));
}

const plainItems = (items: unknown, room: FlatRoom): unknown =>
  Array.isArray(items)
    ? mapRecords(items, (item) => withPlain(item, 'tools', plainTools(item.tools, room)))
    : items;

function mayBeRefused(body: JsonObject, name: string, changes: MemberChanges): boolean {
  const bytes = sentBytes(body, name, changes);
  return bytes?.includes(PARAMETERS) === true && KEYWORDS.some((keyword) => bytes.includes(keyword));
}

const PARAMETERS = Buffer.from('"parameters"');
const KEYWORDS = REFUSED.map((keyword) => Buffer.from(`"${keyword}"`));
