import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';

/*
 * Sentences of vendors that have no code for what they say. The sentences differ from vendor to vendor and from month to month, so
 * codes, types and counts are asked first.
 */

/** A provider's error: its object, or the one inside its answer. */
type Detail = Readonly<Record<string, unknown>>;

/** Characters of a message that are read: a server may repeat the whole request in it. */
const READ_CHARS = 2_000;

/** A gateway of others puts an object with the sentence in it where its own sentence belongs. */
function messageOf({ message }: Detail): string {
  const sentence = isRecord(message) ? message.error : message;
  return typeof sentence === 'string' ? sentence.slice(0, READ_CHARS) : '';
}

/** Whether the prompt is longer than the model's context. */
export const saysTooLong = (detail: Detail): boolean =>
  [detail, ...repeatedIn(detail)].some((each) => isTooLong(each));

/** A router repeats what the vendor behind it has said: its answer as JSON, or its words. */
function repeatedIn({ metadata }: Detail): Detail[] {
  const raw = isRecord(metadata) ? metadata.raw : undefined;
  if (typeof raw !== 'string' || raw.length > RAW_CHARS) return [];
  const value = parseJson(raw);
  if (!isRecord(value)) return [{ message: raw }];
  const { error, message, detail } = value;
  return [isRecord(error) ? error : { ...value, message: message ?? error ?? detail }];
}
const RAW_CHARS = 20_000;

function isTooLong(detail: Detail): boolean {
  const names = [detail.code, detail.type, detail.error_type, detail.status];
  if (names.some((name) => typeof name === 'string' && TOO_LONG_NAME.test(name))) return true;
  if (isAbove(detail.n_prompt_tokens, detail.n_ctx)) return true;
  // The same code tells of names and tags that are too long.
  if (detail.code === 'string_above_max_length' && PROMPT_PLACE.test(String(detail.param))) return true;
  const message = messageOf(detail);
  if (capsAboveContext(message)) return false;
  if (TOO_LONG.some((words) => words.test(message))) return true;
  // A cap of the answer that is too high, or a rate, is another matter.
  const isAboutPrompt =
    ABOUT_TOKENS.test(message) && ABOUT_PROMPT.test(message) && !ABOUT_OTHER.test(message);
  return isAboutPrompt && countsTooMany(message);
}

/** Whether the error names a reason that is not the length of the prompt. */
export function saysOtherReason(detail: Detail): boolean {
  const { param } = detail;
  if (typeof param === 'string' && param !== '' && !PROMPT_PLACE.test(param) && param !== 'messages')
    return true;
  const message = messageOf(detail).trim();
  if (message === '' || NO_REASON.test(message)) return false;
  const place = (QUOTED_PLACE.exec(message) ?? LEADING_PLACE.exec(message))?.[1];
  if (place !== undefined && !PROMPT_PLACE.test(place)) return true;
  return ABOUT_OTHER.test(message) || !ABOUT_LENGTH.test(message);
}

/** Words that servers write where they do not say what is wrong. */
const NO_REASON =
  /^\W{0,3}(?:(?:http )?(?:error )?400|error|(?:an )?unknown error|bad request|(?:bad|invalid)[_ ]request(?:[_ ]error)?|invalid (?:argument|params?|parameters?|input)|request (?:failed|contains an invalid argument)|(?:the )?provider returned (?:an )?error|unprocessable(?: entity)?|null|undefined|\{\})\W{0,3}$/i;
/** The place of the fault, as sentences begin with it. */
const QUOTED_PLACE = /^invalid ['"`]([^'"`]{1,100})['"`]/i;
const LEADING_PLACE = /^([a-z_]{1,40}[.[]\w[\w.[\]]{0,100}):/i;
const ABOUT_LENGTH = /context|prompt|token|length|too (?:long|large|big|many)/i;

/** A cap that the model could not heed with any prompt is the thing to lower. */
function capsAboveContext(message: string): boolean {
  const cap = /\bmax_\w{0,20}tokens\b[^\d]{0,60}(\d[\d,_]*)/i.exec(message)?.[1];
  const context = /context (?:length|window|size|limit)[^\d]{0,40}(\d[\d,_]*)/i.exec(message)?.[1];
  return cap !== undefined && context !== undefined && countIn(cap) > countIn(context);
}

const countIn = (digits: string): number => Number(digits.replaceAll(/[,_]/g, ''));

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
  /(?:input|prompt) token count (?:is|of) \d/i,
  /max_seq_len|max_num_tokens|max_model_len/i,
  /token (?:length|count)s? exceeds? (?:the )?model/i,
  /total length [\d,]{1,15} (?:characters|tokens) exceeds/i,
  /tokens? (?:in the )?(?:input|prompt)[^.]{0,40} (?:exceed|limit)/i,
  /inputs?\W{0,3} tokens \+ /i,
  /(?:prompt|input) tokens? too long/i,
  /(?:model|context|input|prompt) tokens? limit/i,
  /(?:prompt|input) exceeds? (?:the )?max(?:imum)? (?:length|len|size)/i,
  /(?:prompt|input|context|conversation|request) too long/i,
  // Some vendors answer in Chinese: the input, the context or the tokens are above the limit.
  /(?:输入|上下文|提示词|prompt|token)[^。]{0,20}(?:超过|超出|过长|超长)/i,
  /range of input length/i,
  /exceeds? (?:the )?max(?:imum)? (?:message|prompt|input) tokens/i,
  /length of (?:the )?(?:messages|prompt|input|conversation) (?:should|must|can(?:not)?) /i,
  /max(?:imum)? input (?:characters|tokens|length)/i,
  // Bedrock's words where a model takes a text of so many characters.
  /expected maxLength: \d{1,12}, actual: \d/i,
];

const ABOUT_TOKENS = /token/i;
const ABOUT_PROMPT =
  /prompt|input|context|request|message|conversation|sequence|total|number of|count|limit/i;
const ABOUT_OTHER =
  /output|completion|max_(?:\w{1,20}_)?tokens|rate limit|per (?:min|day)|budget|thinking|logit|logprob|vocab|token id|image|pixel|pages?\b/i;

/** Two counts of a limit and of what was sent, in either order: the one that was sent is the greater. */
function countsTooMany(message: string): boolean {
  const counts = (message.match(/\d[\d,_]{2,}/g) ?? []).map(countIn);
  const [first, second] = counts;
  if (first === undefined || second === undefined || first === second) return false;
  if (first > second) return EXCEEDS.test(message);
  const at = message.search(/\d[\d,_]{2,}/);
  return LIMIT_WORD.test(message.slice(Math.max(0, at - LIMIT_WORD_CHARS), at));
}

const EXCEEDS = /exceed|greater|larger|longer|more than|above|maximum|limit|allowed|>/i;
/** It names the count behind it as the limit. */
const LIMIT_WORD = /maximum|limit|at most|up to|support|must be|<=|less/i;
const LIMIT_WORD_CHARS = 80;

const isAbove = (sent: unknown, limit: unknown): boolean =>
  typeof sent === 'number' && typeof limit === 'number' && sent > limit;

/**
 * Whether the words of a 404 name an option of the request, as routers do that find no endpoint for it. Other such words tell of a
 * model that is not there, which no option brings back.
 */
export function saysOption(detail: Detail): boolean {
  const { param } = detail;
  if (typeof param === 'string' && param !== '' && param !== 'model') return true;
  return OPTION.test(messageOf(detail).replaceAll(NAMED, ''));
}

const OPTION =
  /\b(?:options?|param(?:eter)?s?|arguments?|features?|tools?|tool_\w{1,20}|functions?|plugins?|(?:image|audio|video|file|pdf) (?:input|output)s?|modalit(?:y|ies)|response_format|json_schema|structured outputs?|reasoning|thinking|prompt caching|data polic(?:y|ies)|data_collection|zdr|zero data retention|privacy|max_price|max price|quantizations?|(?:allowed|requested) providers|providers have been ignored)\b/i;

/** Whether the vendor's policy refuses what is said, and not the request's form. */
export const saysPolicy = (detail: Detail): boolean =>
  [detail, ...repeatedIn(detail)].some((each) => isPolicy(each));

function isPolicy(detail: Detail): boolean {
  const { code, type, error_type, status, metadata, innererror, details } = detail;
  const inner = isRecord(innererror) ? innererror.code : undefined;
  const reasons = isRecord(metadata) ? [metadata.finish_reason, metadata.block_reason] : [];
  if ([...reasons, status].some((reason) => POLICY_REASONS.has(reason))) return true;
  const infos = Array.isArray(details) ? details.filter((info) => isRecord(info)) : [];
  const names = [code, type, error_type, inner, ...infos.map(({ reason }) => reason)];
  if (names.some((name) => POLICY_NAME.test(typeof name === 'number' ? String(name) : textOr(name))))
    return true;
  const message = messageOf(detail).replaceAll(NAMED, '');
  if (VERDICTS.some((words) => words.test(message))) return true;
  const rest = message.replaceAll(FIELD_OF_POLICY, '');
  return !ABOUT_FORM.test(message) && POLICY.some((words) => words.test(rest));
}

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A sentence names words of the request, and at its beginning the place of the fault: neither is its reason. */
const NAMED =
  /`[^`]{0,200}`|(?<!\w)'[^']{0,200}'(?!\w)|(?<!": ?|\\)"[^"]{0,60}"(?! ?:)|^[a-z_]{1,40}(?:[.[][\w.[\]]{1,100}|_[a-z_]{1,40}): /gi;
/** A field that is named after a policy. */
const FIELD_OF_POLICY =
  /\b(?:polic(?:y|ies)|filters?|moderation|management|settings|checks?) (?:fields?|param(?:eter)?s?|arguments?|propert(?:y|ies)|headers?|options?|keys?|objects?|attributes?|values?|must|should)\b/gi;
/** The beginning of a sentence about the request's form. */
const ABOUT_FORM =
  /^\W{0,3}(?:(?:unknown|unrecognized|unsupported|unexpected|missing|invalid|extra) (?:request |required |input )?(?:parameter|argument|field|property|header|value|option|type|name|key|tool|model|json)|extra inputs?|cannot contain (?:[\w-]{1,20} ){0,3}types?)\b/i;

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
  /^(?:content_(?:filter|policy|moderation|blocked|restricted)\w*|(?:cyber|bio|cbrn|usage|safety)_policy(?:_violation)?|hooks_failed|ResponsibleAIPolicyViolation|(?:InternalError\.Algo\.)?data_?inspection_?failed|moderation_(?:blocked|failed|flagged)|sensitive_words?_detected|(?:input|output)?(?:text|image|video|audio)?SensitiveContentDetected(?:\.\w+)?|(?:input|output)(?:text|image)RiskDetection|OperationDenied\.(?:text|image)IllegalDetected|(?:input|output|new)_sensitive|censorship_blocked|guardrails?_\w+|(?:input|output)_guardrails?_\w+|PUBLIC_ERROR_UNSAFE_\w+|safety_(?:violation|blocked)|unsafe_content|blocked_by_(?:policy|guardrails?)|(?:prompt|response)_blocked|1301)$/i;

/** They say what a policy has decided, also behind words about the request's form. */
const VERDICTS: readonly RegExp[] = [
  /^content exists risk/i,
  /violat\w{1,4} (?:[\w']{1,20} ){0,5}(?:polic|guideline|terms|guardrail)/i,
  /flagged (?:as|by|for)/i,
  /(?<!cannot )contains? (?:[\w-]{1,20} ){0,3}(?:inappropriate|prohibited|sensitive|unsafe|harmful|illegal|nsfw) (?:content|words?|information|material|language)/i,
  /(?:blocked|rejected|refused|denied|filtered|intercepted|stopped) (?:by|due to|because of|as a result of|for) (?:[\w']{1,20} ){0,3}(?:guardrail|safety|moderation|content filter|compliance|censor)/i,
  /(?:input|output)_guardrail_triggered/i,
  /guardrails? (?:[\w-]{1,20} ){0,2}(?:intervened|blocked|triggered|tripped|violated)/i,
  /(?:prompt|content|output|response) (?:[\w']{1,20} ){0,6}(?:is|was|were|been) blocked/i,
  /new_sensitive/i,
  /considered high risk/i,
  /nsfw content/i,
  /content for safety reasons/i,
  /guardrail checks? [^.]{0,60}fail/i,
  /\b(?:PROHIBITED_CONTENT|BLOCKLIST|RECITATION|SPII)\b/,
  // Some vendors answer in Chinese: what is said holds something sensitive or forbidden, or has failed a review.
  /(?:包含|含有|涉及|存在)[^。]{0,20}(?:敏感|违规|违法|不安全|有害|不当)/,
  /审核(?:不|未)通过|未通过[^。]{0,8}审核|内容(?:安全|审核|违规|违法|不合规)/,
];

const POLICY: readonly RegExp[] = [
  /(?:usage|content|safety|acceptable use|responsible ai)[\w ]{0,30} polic(?:y|ies)/i,
  /content (?:filter|moderation|management)/i,
  /safety (?:system|filter|settings|check)/i,
  /(?:inappropriate|prohibited|sensitive|unsafe|harmful) (?:content|words|prompt)/i,
];
