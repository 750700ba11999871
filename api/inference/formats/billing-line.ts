import { isRecord } from '#core/is-record.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { claudeVersion } from './reasoning-words.ts';

/*
 * Claude Code begins its instructions with a line for the billing of Claude's own vendor, which differs in every request. Other
 * servers read it as part of the prompt, and then no prompt begins like one in their caches, so each costs its full price
 * (anthropics/claude-code#68900, sgl-project/sglang#21064, ggml-org/llama.cpp#20623).
 */

/** The line's name, by which callers are told that it is left out. */
export const BILLING_LINE = 'x-anthropic-billing-header';
const NEEDLE = Buffer.from(BILLING_LINE);

/** No more than the line's own members are cut, because some clients write all instructions into one text. */
const LINE = /^\s*x-anthropic-billing-header:(?:[ \t]*\w+=[^;\s]*;)*(?:[ \t]*\w+=[^;\s]*)?\s*/;

/** A text of instructions without the line. */
export const withoutBillingLine = (text: string): string =>
  text.includes(BILLING_LINE) ? text.replace(LINE, '') : text;

/** Whether a server of a model gets the instructions without the line. */
export const losesBillingLine = (system: unknown, upstreamModel: string): boolean =>
  claudeVersion(upstreamModel) === null && withoutLines(system) !== system;

/** Leaves the line out of a messages body, on top of what is changed in it already. */
export function leaveOutBillingLine(body: JsonObject, upstreamModel: string, changes: MemberChanges): void {
  if (claudeVersion(upstreamModel) !== null) return;
  if (sentBytes(body, 'system', changes)?.includes(NEEDLE) !== true) return;
  editMember(body, 'system', withoutLines, changes);
  const left = sentBytes(body, 'system', changes)?.toString();
  if (left === '[]' || left === '""') changes.set('system', null);
}

/** The same value if there is no such line in it. */
function withoutLines(system: unknown): unknown {
  if (typeof system === 'string') return withoutBillingLine(system);
  if (!Array.isArray(system)) return system;
  const blocks = system.flatMap((block: unknown) => {
    const text = isRecord(block) && typeof block.text === 'string' ? block.text : '';
    const rest = withoutBillingLine(text);
    if (rest === text) return [block];
    return rest === '' ? [] : [{ ...Object(block), text: rest }];
  });
  return blocks.length === system.length && blocks.every((block, index) => block === system[index])
    ? system
    : blocks;
}
