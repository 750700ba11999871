import type { FunctionTool, ToolChoice } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { HINTS, type UnsupportedFields } from '../formats/unsupported-fields.ts';
import { records, textOf } from '../formats/values.ts';
import { cacheOf } from './cache-marks.ts';

/*
 * Chats had `functions` and one `function_call` an answer before they had tools. The format still has them beside its tools, and
 * clients still send them.
 */

/** True where the caller knows functions alone. A caller that knows tools is answered with tools. */
export const hasLegacyFunctions = ({ tools, functions }: Readonly<Record<string, unknown>>): boolean =>
  records(tools).length === 0 && records(functions).length > 0;

/** The functions with the caller's own names. */
export const readFunctions = (functions: unknown, unsupported: UnsupportedFields): FunctionTool[] =>
  unsupported.records(functions, 'functions').map((each, index) => {
    const path = `functions[${index}].`;
    unsupported.unknown(each, path, FUNCTION, HINTS);
    return {
      name: textOf(each.name),
      description: unsupported.text(each.description, `${path}description`),
      parameters: each.parameters ?? null,
      parametersAt: `${path}parameters`,
      strict: unsupported.boolean(each.strict, `${path}strict`),
      strictAt: `${path}strict`,
      ...cacheOf(each),
    };
  });

export const FUNCTION: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict']);

export function readFunctionChoice(choice: unknown, unsupported: UnsupportedFields): ToolChoice | null {
  if (choice === undefined || choice === null) return null;
  if (choice === 'auto' || choice === 'none') return { type: choice };
  const name = isRecord(choice) ? textOf(choice.name) : '';
  if (isRecord(choice)) unsupported.unknown(choice, 'function_call.', CHOICE);
  if (name !== '') return { type: 'tool', name };
  unsupported.add('function_call', 'a choice that names no function');
  return null;
}

const CHOICE = new Set(['name']);
