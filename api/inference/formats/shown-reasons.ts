import { parseJson } from '#core/parse-json.ts';
import { type JsonObject, MemberChanges, memberText, rebuildJsonObject } from '../json/json-object.ts';
import type { AnswerWords } from '../scrub/answer-words.ts';
import { messageWordOf } from './end-words.ts';
import { isReasonName } from './error-record.ts';
import { objectIn } from './stream-text.ts';

/**
 * Shows what a message tells of its end. Clients know the reasons of the format alone; a server's own word for an answer that was cut or
 * withheld is told by one of them. The rest is scrubbed: a reason is a name, a stop sequence is the caller's own text, and an explanation is a sentence
 * of the provider. The first two are left empty where the scrubber would remove something of them.
 */
export function showMessageEnd(
  end: JsonObject,
  words: AnswerWords | undefined,
  changes: MemberChanges,
): void {
  const reason = parseJson(memberText(end, 'stop_reason') ?? 'null');
  const known = typeof reason === 'string' ? messageWordOf(reason) : null;
  if (known !== null) changes.set('stop_reason', JSON.stringify(known));
  if (words === undefined) return;
  for (const name of ['stop_reason', 'stop_sequence']) {
    if (changes.get(name) !== undefined) continue;
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
