import { isRecord } from '#core/is-record.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';

/*
 * What vendors say in words where they have no code for it. The sentences differ from vendor to vendor and from month to month, so
 * codes, types and counts are asked first.
 */

/** A provider's error: its object, or the one inside its answer. */
type Detail = Readonly<Record<string, unknown>>;

/** Characters of a message that are read: a server may repeat the whole request in it. */
const READ_CHARS = 2_000;

const messageOf = ({ message }: Detail): string =>
  typeof message === 'string' ? message.slice(0, READ_CHARS) : '';

/** Whether the prompt is longer than the model's context. */
export function saysTooLong(detail: Detail): boolean {
  const names = [detail.code, detail.type, detail.error_type, detail.status];
  if (names.some((name) => typeof name === 'string' && TOO_LONG_NAME.test(name))) return true;
  if (isAbove(detail.n_prompt_tokens, detail.n_ctx)) return true;
  // The same code tells of names and tags that are too long.
  if (detail.code === 'string_above_max_length' && PROMPT_PLACE.test(String(detail.param))) return true;
  const message = messageOf(detail);
  if (TOO_LONG.some((words) => words.test(message))) return true;
  // A cap of the answer that is too high, or a rate, is another matter.
  return ABOUT_TOKENS.test(message) && !ABOUT_OTHER.test(message) && countsTooMany(message);
}

const TOO_LONG_NAME =
  /^(?:context_length_exceeded|token_limit_exceeded|exceed_context_size_error|context_(?:window|size|limit)_exceeded|model_context_window_exceeded|(?:prompt|input|request)_too_long|(?:prompt|input)_tokens_exceeded|max_(?:prompt|input|context)_(?:length|tokens)_exceeded|too_many_tokens)$/i;

const PROMPT_PLACE =
  /^(?:messages\[\d{1,6}\]\.content|input$|input\[\d{1,6}\]\.(?:content|output)|prompt$|instructions$|system)/;

const TOO_LONG: readonly RegExp[] = [
  /context (?:length|window|size|limit)/i,
  /(?:maximum|max) (?:context|prompt|input|sequence|model) (?:length|len|size)/i,
  /(?:prompt|input|request|messages?|conversation|text|sequence) (?:is|are|was|were) too (?:long|large|big)/i,
  /too many (?:input |prompt )?tokens/i,
  /reduce the length of (?:the |your )?(?:messages|prompt|input|conversation)/i,
  /(?:input|prompt) (?:token count|tokens|length)[^.]{0,60} exceeds?/i,
  /(?:prompt|input) tokens? limit/i,
  /tokens? (?:in the )?(?:input|prompt)[^.]{0,40} (?:exceed|limit)/i,
  /inputs?\W{0,3} tokens \+ /i,
  /range of input length/i,
  /exceeds? (?:the )?max(?:imum)? (?:message|prompt|input) tokens/i,
];

const ABOUT_TOKENS = /token/i;
const ABOUT_OTHER = /output|completion|max_tokens|rate limit|per (?:min|day)/i;

/** Two counts of a limit and of what was sent, in either order: the one that was sent is the greater. */
function countsTooMany(message: string): boolean {
  const counts = (message.match(/\d[\d,_]{2,}/g) ?? []).map((text) => Number(text.replaceAll(/[,_]/g, '')));
  const [first, second] = counts;
  if (first === undefined || second === undefined || first === second) return false;
  return first > second ? EXCEEDS.test(message) : LIMIT_FIRST.test(message);
}

const EXCEEDS = /exceed|greater|larger|longer|more than|above|maximum|limit|allowed|>/i;
const LIMIT_FIRST = /(?:maximum|limit|at most|up to|supports?|must be|<=|less)[^\d]{0,80}\d/i;

const isAbove = (sent: unknown, limit: unknown): boolean =>
  typeof sent === 'number' && typeof limit === 'number' && sent > limit;

/** Whether the vendor's policy refuses what is said, and not the request's form. */
export function saysPolicy(detail: Detail): boolean {
  const { code, type, status, metadata, innererror } = detail;
  const inner = isRecord(innererror) ? innererror.code : undefined;
  const reasons = isRecord(metadata) ? [metadata.finish_reason, metadata.block_reason] : [];
  if ([...reasons, status].some((reason) => POLICY_REASONS.has(reason))) return true;
  const names = [code, type, inner].map((name) => (typeof name === 'number' ? String(name) : name));
  if (names.some((name) => typeof name === 'string' && POLICY_NAME.test(name))) return true;
  const message = messageOf(detail);
  return POLICY.some((words) => words.test(message));
}

const POLICY_REASONS: ReadonlySet<unknown> = new Set([
  'PROHIBITED_CONTENT',
  'SAFETY',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'BLOCKLIST',
  'RECITATION',
  'IMAGE_RECITATION',
  'SPII',
]);

/** `1301` is one vendor's number for it. */
const POLICY_NAME =
  /^(?:content_(?:filter|policy)\w*|ResponsibleAIPolicyViolation|data_?inspection_?failed|moderation_blocked|sensitive_words?_detected|safety_violation|blocked_by_policy|prompt_blocked|1301)$/i;

const POLICY: readonly RegExp[] = [
  /^content exists risk/i,
  /(?:usage|content|safety|acceptable use|responsible ai)[\w ]{0,30} polic(?:y|ies)/i,
  /content (?:filter|moderation|management)/i,
  /safety (?:system|filter|settings|check)/i,
  /violat\w{1,4} (?:[\w']{1,20} ){0,5}(?:polic|guideline|terms)/i,
  /flagged (?:as|by|for)/i,
  /(?:inappropriate|prohibited|sensitive|unsafe|harmful) (?:content|words|prompt)/i,
];

/** The wait that an error names in words, such as `1h6m0.5s`, in milliseconds; `null`: none. */
export function saysWait(detail: Detail): number | null {
  const found = WAIT.exec(messageOf(detail));
  if (found === null) return null;
  const [, hours = '0', minutes = '0', amount, unit = 's'] = found;
  const ofUnit = UNITS.get(unit.toLowerCase()) ?? SECOND_MS;
  const ms = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(amount) * ofUnit;
  return Number.isFinite(ms) ? Math.ceil(ms) : null;
}

const WAIT =
  /(?:try again|retry|available|wait)(?: again)?(?: (?:in|after|for))? (?:about )?(?:(\d{1,3})h)?(?:(\d{1,4})m)?(\d{1,6}(?:\.\d{1,6})?) ?(ms|milliseconds?|m|minutes?|h|hours?|seconds?|secs?|s)\b/i;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['millisecond', 1],
  ['milliseconds', 1],
  ['m', MINUTE_MS],
  ['minute', MINUTE_MS],
  ['minutes', MINUTE_MS],
  ['h', HOUR_MS],
  ['hour', HOUR_MS],
  ['hours', HOUR_MS],
]);
