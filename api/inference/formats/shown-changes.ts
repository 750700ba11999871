import { formatUsd, type NanoUsd } from '#core/money.ts';
import type { Candidate } from '../call-plan.ts';
import { type JsonObject, MemberChanges, memberText, rebuildJsonObject } from '../json-object.ts';
import type { GoodAnswer } from './call-format.ts';

/** What the caller of any format sees changed in a whole answer: our cost, and the model by its public name. */
export function shownChanges(
  { answer, sent }: GoodAnswer,
  shown: NanoUsd | null,
  { endpoint, model, provider }: Candidate,
): MemberChanges {
  const changes = new MemberChanges([['usage', shownUsage(sent?.object ?? null, shown)]]);
  for (const field of provider.dialect.vendorFields) changes.set(field, null);
  if (
    endpoint.upstreamModel !== model.id &&
    memberText(answer, 'model') === JSON.stringify(endpoint.upstreamModel)
  ) {
    changes.set('model', JSON.stringify(model.id));
  }
  return changes;
}

/**
 * Usage as the caller sees it: the provider's counters, our cost, and nothing of what the provider charged us.
 *
 * @param usage `null`: the provider sent none that is an object.
 * @param shown What leaves the balance; `null`: not known yet, so there is no number that could be taken for the charge.
 */
export function shownUsage(usage: JsonObject | null, shown: NanoUsd | null): Buffer | null {
  const cost = shown === null ? null : formatUsd(shown);
  if (usage === null) return cost === null ? null : Buffer.from(`{"cost":${cost}}`);
  return rebuildJsonObject(
    usage,
    new MemberChanges([
      ['cost', cost],
      ['cost_details', null],
      ['is_byok', null],
    ]),
  );
}
