import type { AnswerIdentity } from '../formats/call-format.ts';
import { incompleteReason, itemId, itemOf, statusOfItem } from './responses-items.ts';
import type { ToolNames } from './tool-names.ts';
import type { WholeAnswer } from './whole-answer.ts';

/*
 * The response object around the items. It has every member that the format has, because clients read them without asking whether
 * they are there; most repeat the request.
 */

/** JSON text of a response without its usage. */
export function responseText(
  whole: WholeAnswer,
  identity: AnswerIdentity,
  { echo, names, isRunning }: { echo: string; names: ToolNames; isRunning: boolean },
): string {
  const reason = isRunning ? null : incompleteReason(whole);
  const status = isRunning ? 'in_progress' : statusOf(whole);
  const head = {
    id: whole.id || identity.id,
    object: 'response',
    created_at: identity.createdAtS,
    completed_at: status === 'completed' ? identity.nowS : null,
    status,
    access_programs: null,
    error: null,
    incomplete_details: reason === null ? null : { reason },
    model: identity.model,
    output: isRunning
      ? []
      : whole.parts.map((part, index) =>
          itemOf(part, itemId(whole, index, names), statusOfItem(whole, index), names),
        ),
  };
  return `${JSON.stringify(head).slice(0, -1)},${echo}}`;
}

export const statusOf = (whole: WholeAnswer): 'completed' | 'incomplete' =>
  incompleteReason(whole) === null ? 'completed' : 'incomplete';
