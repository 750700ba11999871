import type { FormatName } from '#core/catalog/catalog.ts';
import type { TokenCounts } from '#core/events/ledger-event.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import { billMembers } from '../../providers/usage-names.ts';
import type { Candidate } from '../admit/call-plan.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { frameChanges } from '../scrub/scrub-answer.ts';
import { hiddenOf } from '../scrub/scrub-words.ts';
import type { GoodAnswer, StreamEndView, StreamNames } from './call-format.ts';
import { namesModel } from './public-model-name.ts';
import { objectIn } from './stream-text.ts';
import { chatUsageText, responsesUsageText, wholeMessagesUsageText } from './usage-text.ts';

/** What a call came to, as far as a caller is told. */
export interface ShownCharge {
  /** What leaves the balance; `null`: not known yet, so there is no number that could be taken for the charge. */
  shown: NanoUsd | null;
  /** What the charge was made of. */
  tokens: TokenCounts;
}

/** What the caller of any format sees changed in a whole answer: our usage, and the model by its public name. */
export function shownChanges(
  format: FormatName,
  { answer, sent }: GoodAnswer,
  charge: StreamEndView,
  candidate: Candidate,
): MemberChanges {
  const hidden = hiddenOf(candidate);
  const record = sent === null ? null : { object: sent.object, tokens: sent.usage?.tokens ?? null };
  const changes = new MemberChanges([['usage', shownUsage(format, record, charge)]]);
  for (const field of candidate.provider.dialect.vendorFields) changes.set(field, null);
  showFrame(answer, { ...hidden, hidden, ownId: charge.identity.id }, changes);
  return changes;
}

/** Shows the frame of an answer to its caller, with the model by its public name. */
export function showFrame(
  answer: JsonObject,
  { upstreamModel, publicModel, hidden, ownId = '' }: Omit<StreamNames, 'showUsage'>,
  changes: MemberChanges,
): void {
  const frame = hidden === undefined ? [] : frameChanges(answer, hidden, ownId);
  for (const [name, value] of frame) changes.set(name, value);
  if (upstreamModel !== publicModel && namesModel(answer, upstreamModel))
    changes.set('model', JSON.stringify(publicModel));
}

/**
 * An event of a stream as its caller may see its frame; the same object where nothing changes. A frame may stand in any event, and the
 * event that begins the answer may be missing.
 *
 * @param holder A member that may have a frame of its own; `null`: there is none.
 */
export function withShownFrame(
  event: JsonObject,
  names: Omit<StreamNames, 'showUsage'>,
  holder: string | null,
): JsonObject {
  const changes = new MemberChanges();
  showFrame(event, names, changes);
  const inner = holder === null ? null : objectIn(event, holder);
  if (holder !== null && inner !== null) {
    const ofInner = new MemberChanges();
    showFrame(inner, names, ofInner);
    if (ofInner.keys.length > 0) changes.set(holder, rebuildJsonObject(inner, ofInner));
  }
  if (changes.keys.length === 0) return event;
  const shown = scanJsonObject(rebuildJsonObject(event, changes), answerBounds);
  return typeof shown === 'string' ? event : shown;
}

/** A provider's record, and what was read of it; `null`: too little. */
export interface SentRecord {
  object: JsonObject;
  tokens: TokenCounts | null;
}

/**
 * Usage as the caller sees it at the end of an answer: the provider's record with the counters that the charge was made of and
 * our cost, and nothing of what the provider charged us. A record that the charge was not made of is replaced by ours.
 */
export function shownUsage(
  format: FormatName,
  record: SentRecord | null,
  { shown, tokens }: ShownCharge,
): Buffer {
  if (record === null || record.tokens === null || tokens.estimated === true)
    return Buffer.from(usageText[format](tokens, shown));
  const { object } = record;
  const changes = withoutBill();
  changes.set('cost', shown === null ? null : formatUsd(shown));
  for (const [name, count] of countersOf(format, record.tokens)) {
    const text = memberText(object, name);
    // A cache that the record does not name has nothing in it.
    const isMissing = text === undefined && !(count === 0 && name.startsWith('cache_'));
    if (isMissing || (text !== undefined && Number(text) !== count)) changes.set(name, String(count));
  }
  return rebuildJsonObject(object, changes);
}

/** A record that comes before the end: as it was sent, without the provider's bill. */
export const passedUsage = (usage: JsonObject): Buffer => rebuildJsonObject(usage, withoutBill());

const withoutBill = (): MemberChanges => new MemberChanges(billMembers.map((name) => [name, null]));

const usageText = {
  chat: chatUsageText,
  responses: responsesUsageText,
  messages: wholeMessagesUsageText,
} as const satisfies Record<FormatName, unknown>;

/** The counters that every answer of the format has. */
export function countersOf(format: FormatName, tokens: TokenCounts): readonly (readonly [string, number])[] {
  const { prompt, completion, cached, cacheWritten = 0 } = tokens;
  switch (format) {
    case 'chat':
      return [
        ['prompt_tokens', prompt],
        ['completion_tokens', completion],
        ['total_tokens', prompt + completion],
      ];
    case 'responses':
      return [
        ['input_tokens', prompt],
        ['output_tokens', completion],
        ['total_tokens', prompt + completion],
      ];
    case 'messages':
      return [
        ['input_tokens', prompt - cached - cacheWritten],
        ['output_tokens', completion],
        ['cache_read_input_tokens', cached],
        ['cache_creation_input_tokens', cacheWritten],
      ];
  }
}
