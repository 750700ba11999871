import { isRecord } from '#core/is-record.ts';
import { TOOL_ENTRIES_MAX, TOOL_KEYS_MAX } from '#core/limits.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';

/*
 * Keys, and entries of lists, in the tools of a request and in the form of its answer. Schemas are checked, translated and rewritten
 * as a whole, each in one turn of the event loop, and no model reads as many.
 */

/** Members that say which tools there are, which of them to call, and in which form to answer, in any format. */
const MEMBERS = [
  ...['tools', 'functions', 'tool_choice'],
  ...['response_format', 'text', 'output_config', 'output_format', 'include'],
];

/** `null`: they are within bounds. Items of a conversation may bring tools, too. */
export function refuseManyToolKeys(body: Readonly<Record<string, unknown>>): ApiError | null {
  const room: Room = { keys: TOOL_KEYS_MAX, entries: TOOL_ENTRIES_MAX };
  for (const member of MEMBERS) if (!fits(body[member], room)) return tooMany(member);
  if (!Array.isArray(body.input)) return null;
  for (const [index, item] of body.input.entries())
    if (isRecord(item) && !fits(item.tools, room)) return tooMany(`input[${index}].tools`);
  return null;
}

interface Room {
  keys: number;
  entries: number;
}

/** Takes room for a value, until there is none. The values of an object are looked at only if its keys fit. */
function fits(value: unknown, room: Room): boolean {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const each = rest.pop();
    if (Array.isArray(each)) room.entries -= each.length;
    else if (isRecord(each)) room.keys -= Object.keys(each).length;
    else continue;
    if (room.keys < 0 || room.entries < 0) return false;
    for (const inner of Array.isArray(each) ? each : Object.values(each))
      if (typeof inner === 'object') rest.push(inner);
  }
  return true;
}

const tooMany = (param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message:
      `The tools and the form of the answer have more than ${TOOL_KEYS_MAX} keys or ${TOOL_ENTRIES_MAX} entries of lists; ` +
      `\`${param}\` does not fit any more. Offer fewer tools, or simpler schemas.`,
  });
