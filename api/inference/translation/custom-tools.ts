import { isRecord } from '#core/is-record.ts';
import { recordOf, textOf } from '../formats/values.ts';

/*
 * A custom tool takes a plain text. At a provider of another format it is a function of one text.
 */

/** The one member of a custom tool's arguments at the provider. */
const INPUT = 'input';

export const customArguments = (input: string): string => JSON.stringify({ [INPUT]: input });

/** The text that a custom tool is called with, of arguments that may be cut, or no JSON: a model may also write the text alone. */
export function customInput(argumentsJson: string): string {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    if (typeof value === 'string') return value;
    const text = isRecord(value) ? onlyTextIn(value) : undefined;
    if (text !== undefined) return text;
  } catch {
    return brokenInput(argumentsJson) ?? argumentsJson;
  }
  return argumentsJson;
}

/** Some models give the one member another name. */
function onlyTextIn(value: Readonly<Record<string, unknown>>): string | undefined {
  const texts = INPUT in value ? [value[INPUT]] : Object.values(value);
  const [text, ...others] = texts;
  return typeof text === 'string' && others.length === 0 ? text : undefined;
}

/** Models write line ends, quotes and backslashes as they are, and an answer may end within the text. `null`: it is none of ours. */
function brokenInput(json: string): string | null {
  const begin = BEGIN_OF_INPUT.exec(json);
  if (begin === null) return null;
  const rest = json.slice(begin[0].length);
  const end = END_OF_INPUT.exec(rest);
  const text = end === null ? rest.replace(CUT_ESCAPE, '$1') : rest.slice(0, end.index);
  return JSON.parse(`"${text.replaceAll(UNFIT, fit)}"`);
}

const fit = (piece: string): string => (ESCAPE.test(piece) ? piece : JSON.stringify(piece).slice(1, -1));

const BEGIN_OF_INPUT = new RegExp(`^\\s*\\{\\s*"${INPUT}"\\s*:\\s*"`);
const END_OF_INPUT = /"\s*\}\s*$|(?<!\\)"\s*$/;
const CUT_ESCAPE = /((?:^|[^\\])(?:\\\\){0,100})\\(?:u[\da-fA-F]{0,3})?$/;
/** An escape, or a letter that stands in no JSON text. */
const UNFIT = /\\u[\da-fA-F]{4}|\\.?|["\p{Cc}]/gsu;
const ESCAPE = /^\\(?:u[\da-fA-F]{4}|["\\/bfnrt])$/;

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
