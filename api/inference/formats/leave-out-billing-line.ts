import { isRecord } from '#core/is-record.ts';
import { BILLING_LINE, withoutBillingLine } from '../../providers/billing-line.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { claudeVersion } from './reasoning-words.ts';

/*
 * A line that only Claude's servers may read (`billing-line.ts` of the providers) is left out of a messages body for any other model.
 */

const NEEDLE = Buffer.from(BILLING_LINE);

/** The instructions are sent to a server of this model without the line. */
export const losesBillingLine = (system: unknown, upstreamModel: string): boolean =>
  claudeVersion(upstreamModel) === null && withoutLines(system) !== system;

/** Leaves the line out of a messages body, on top of what is changed in it already. */
export function leaveOutBillingLine(body: JsonObject, upstreamModel: string, changes: MemberChanges): void {
  if (claudeVersion(upstreamModel) !== null) return;
  if (sentBytes(body, 'system', changes)?.includes(NEEDLE) !== true) return;
  editMember(body, 'system', (system) => unlessEmpty(withoutLines(system)), changes);
}

const unlessEmpty = (system: unknown): unknown =>
  system === '' || (Array.isArray(system) && system.length === 0) ? undefined : system;

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
