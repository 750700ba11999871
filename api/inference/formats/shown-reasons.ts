import { parseJson } from '#core/parse-json.ts';
import { type JsonObject, MemberChanges, memberText, rebuildJsonObject } from '../json/json-object.ts';
import type { AnswerWords } from '../scrub/answer-words.ts';
import { isReasonName } from './error-record.ts';
import { objectIn } from './stream-text.ts';

/**
 * Scrubs what a message tells of its end: a reason is a name, a stop sequence is the caller's own text, and an explanation is a sentence
 * of the provider. The first two are left empty where the scrubber would remove something of them.
 */
export function scrubMessageEnd(
  end: JsonObject,
  words: AnswerWords | undefined,
  changes: MemberChanges,
): void {
  if (words === undefined) return;
  for (const name of ['stop_reason', 'stop_sequence']) {
    const sent = memberText(end, name);
    if (!isReasonName(sent) && tellsWords(sent, words)) changes.set(name, 'null');
  }
  const details = objectIn(end, 'stop_details');
  const explanation = details === null ? undefined : memberText(details, 'explanation');
  if (details === null || !tellsWords(explanation, words)) return;
  const scrubbed = words.scrub(String(parseJson(explanation ?? 'null'))) ?? null;
  const shown = new MemberChanges([['explanation', JSON.stringify(scrubbed)]]);
  changes.set('stop_details', rebuildJsonObject(details, shown));
}

/** Whether the scrubber would remove something of a text. */
function tellsWords(json: string | undefined, words: AnswerWords): boolean {
  const text = json === undefined ? null : parseJson(json);
  if (typeof text !== 'string') return text !== null;
  if (text.length > WORDS_CHARS_MAX) return true;
  const shown = words.scrub(text);
  return shown !== null && shown !== text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** No longer text passes the scrubber as a whole. */
const WORDS_CHARS_MAX = 300;
