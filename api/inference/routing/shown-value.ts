import { isRecord } from '#core/is-record.ts';

const CHARS_MAX = 40;
/** Their values are said to the model, and no error repeats that. */
const SAID: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'system',
  'instructions',
  'prompt',
  'prediction',
]);

/** The value of a field in words for a refusal, such as ` (0.5)`; a long one by its length or its kind; empty where none may be shown. */
export function shownValue(body: Readonly<Record<string, unknown>>, param: string): string {
  const value = valueAt(body, param);
  const [top = ''] = namesIn(param);
  if (value === undefined || SAID.has(top)) return '';
  const text = JSON.stringify(value);
  return text.length <= CHARS_MAX ? ` (${text})` : ` (${kindOf(value)})`;
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
}

/** The path is one such as `text.verbosity` or `tools[0].type`, but a member of the body may have any name. */
function valueAt(body: Readonly<Record<string, unknown>>, param: string): unknown {
  if (Object.hasOwn(body, param)) return body[param];
  return namesIn(param).reduce<unknown>((inside, name) => {
    if (Array.isArray(inside)) return inside[Number(name)];
    return isRecord(inside) && Object.hasOwn(inside, name) ? inside[name] : undefined;
  }, body);
}

const namesIn = (param: string): string[] => param.match(/[^.[\]]+/g) ?? [];
