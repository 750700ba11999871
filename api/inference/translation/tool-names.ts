import { createHash } from 'node:crypto';
import { isRecord } from '#core/is-record.ts';
import { recordOf, records, textOf } from '../formats/values.ts';

/*
 * A provider of another format knows functions alone, each with one name. Tools in a namespace get a joined name there, and a
 * custom tool, which takes a plain text, becomes a function of one text.
 */

/** A tool as the caller knows it. */
export interface CallerTool {
  name: string;
  /** `null`: it stands in none. */
  namespace: string | null;
  /** It is called with a plain text. */
  isCustom: boolean;
}

/** Tools whose name or kind differs at the provider, by their names there. */
export type ToolNames = ReadonlyMap<string, CallerTool>;

export const NO_TOOL_NAMES: ToolNames = new Map();

/** Vendors take no longer names of functions. */
const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;
const JOINT = '__';

/** The name of a tool at the provider: the same in every request, because calls of earlier answers have to name it. */
export function joinedName(namespace: string | null, name: string): string {
  if (namespace === null || namespace === '') return name;
  const joined = `${namespace}${JOINT}${name}`;
  if (joined.length <= NAME_CHARS_MAX && /^[\w-]+$/.test(joined)) return joined;
  // Two long names must not become one.
  const hash = createHash('sha256').update(joined).digest('hex').slice(0, HASH_CHARS);
  const kept = joined.replaceAll(/[^\w-]/g, '_').slice(0, NAME_CHARS_MAX - HASH_CHARS - 1);
  return `${kept}_${hash}`;
}

/** The names that an answer has to show otherwise than the provider writes them. */
export function toolNamesOf(tools: unknown): ToolNames {
  const names = new Map<string, CallerTool>();
  const add = (tool: Record<string, unknown>, namespace: string | null): void => {
    const isCustom = tool.type === 'custom';
    const name = textOf(tool.name) || textOf(recordOf(tool[textOf(tool.type)]).name);
    if (isCustom || namespace !== null) names.set(joinedName(namespace, name), { name, namespace, isCustom });
  };
  for (const tool of records(tools)) {
    if (tool.type === 'namespace') for (const inner of records(tool.tools)) add(inner, textOf(tool.name));
    else add(tool, null);
  }
  return names;
}

/** The one member of a custom tool's arguments at the provider. */
const INPUT = 'input';

export const customArguments = (input: string): string => JSON.stringify({ [INPUT]: input });

/** The text that a custom tool is called with. A model may also write the text alone. */
export function customInput(argumentsJson: string): string {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    if (typeof value === 'string') return value;
    if (isRecord(value) && typeof value[INPUT] === 'string') return value[INPUT];
  } catch {
    // It is the text itself.
  }
  return argumentsJson;
}

/** A custom tool's description says, besides its own words, which grammar the text has to follow. */
export function customDescription(description: string | null, format: unknown): string | null {
  const { type, grammar, ...flat } = recordOf(format);
  const { syntax, definition } = isRecord(grammar) ? grammar : flat;
  if (type !== 'grammar' || textOf(definition) === '') return description;
  const rule = `\`${INPUT}\` has to follow this ${textOf(syntax) || 'lark'} grammar:\n${textOf(definition)}`;
  return description === null ? rule : `${description}\n\n${rule}`;
}

export const CUSTOM_PARAMETERS: object = {
  type: 'object',
  properties: { [INPUT]: { type: 'string' } },
  required: [INPUT],
  additionalProperties: false,
};
