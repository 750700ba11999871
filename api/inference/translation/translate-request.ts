import type { FormatName } from '#core/catalog/catalog.ts';
import type { ChatTag } from '#core/catalog/dialect.ts';
import type { AskedModel, Conversation, ToolNames } from '#core/conversation/conversation.ts';
import type { OwnFormat } from '#core/conversation/own-format.ts';
import { isRecord } from '#core/is-record.ts';
import { isSteps, runAtOnce, type Steps, type Work } from '#core/steps.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import { nameUnsupportedOrder } from '../formats/fit-to-dialect.ts';
import { nameUnsupportedPlugins } from '../formats/name-unsupported-plugins.ts';
import { isForcedChoice, nameReasoning, takenEffort } from '../formats/reasoning-words.ts';
import { type UnsupportedField, UnsupportedFields } from '../formats/unsupported-fields.ts';
import { recordOf, records, textOf } from '../formats/values.ts';
import { type JsonObject, scanJsonObjectInSteps } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { translatedTokensMax } from '../price/prompt-bound.ts';
import { type ArgumentNames, NO_NAMES } from './argument-names.ts';
import { cacheOf } from './cache-marks.ts';
import { claudeLimits } from './claude-limits.ts';
import { cannotReason, gptLimits } from './gpt-limits.ts';
import { orderResults } from './order-results.ts';
import { placeSignatures } from './place-signatures.ts';
import { readChat } from './read-chat.ts';
import { readMessages } from './read-messages.ts';
import { readResponses } from './read-responses.ts';
import { writeChat } from './write-chat.ts';
import { type WrittenMessages, writeMessages } from './write-messages.ts';
import { betaFieldsIn, cannotRest, canThink } from './write-thinking.ts';

/** A format into which a call can be translated. */
export type TranslationTarget = 'chat' | 'messages' | OwnFormat;

/**
 * A caller's body in the words of another format, but for what the gateway writes into every body. What has no words
 * there is left out and named, or refused where the meaning hangs on it.
 * @param marks Those of the numbers in `value`.
 */
export function translateRequest(
  value: Readonly<Record<string, unknown>>,
  from: FormatName,
  to: TranslationTarget,
  asked: AskedModel,
  marks = new NumberMarks(),
): TranslatedRequest | ApiError {
  return runAtOnce(translateInSteps(value, from, to, asked, marks));
}

/** The same for a large body, in steps that are each short enough for one turn of the event loop. */
export function* translateInSteps(
  value: Readonly<Record<string, unknown>>,
  from: FormatName,
  to: TranslationTarget,
  asked: AskedModel,
  marks: NumberMarks,
): Steps<TranslatedRequest | ApiError> {
  const unsupported = UnsupportedFields.ofRequest();
  nameUnsupportedPlugins(value, unsupported);
  nameUnsupportedOrder(value.provider, unsupported);
  const reading = readers[from](value, unsupported);
  const read = isSteps(reading) ? yield* reading : reading;
  if (from === 'messages' && !(to === 'chat' && marksPrefill(asked)))
    refusePrefill(value.messages, unsupported);
  yield 'read';
  const conversation = {
    ...read,
    ...cacheOf(value),
    tags: tagsOf(value, from),
    turns: orderResults(placeSignatures(read.turns)),
  };
  const writing = write(conversation, to, asked, unsupported, marks);
  const { body, argumentNames } = isSteps(writing) ? yield* writing : writing;
  if (to === 'chat') {
    nameLostEffort(value, conversation, asked, unsupported);
    nameLostSchema(value, conversation, asked, unsupported);
  }
  if (to === 'messages') nameLostReasoning(value, conversation, asked, unsupported);
  if (unsupported.first !== null) return cannotBeSent(unsupported.first);
  yield 'write';
  const bytes = marks.print(body);
  yield 'print';
  const scan = scanJsonObjectInSteps(bytes);
  const object = isSteps(scan) ? yield* scan : scan;
  // Arguments are a text in one format and stand some levels deep in the other.
  if (object === 'too_deep')
    return cannotBeSent({ param: 'arguments', words: 'tool calls that nest so deep' });
  if (typeof object === 'string') throw new Error('A translated body is no JSON object.');
  const { toolNames } = conversation;
  const hints = unsupported.hints.filter(
    (name) =>
      isLost(name, to, conversation, asked) && !(name === 'metadata' && isUserAlone(value, to, asked)),
  );
  return {
    object,
    leftOut: unsupported.leftOut,
    hints,
    toolNames,
    argumentNames,
    sentBetaFields: to === 'messages' ? betaFieldsIn(body) : [],
    promptTokensMax: translatedTokensMax(object, body),
  };
}

/** Marks for a cache are written in every format but chat, and tags of the caller in a chat alone. */
const isLost = (
  hint: string,
  to: TranslationTarget,
  { tags }: Conversation,
  { dialect }: AskedModel,
): boolean =>
  to === 'chat'
    ? !dialect.chatTags.some((tag) => tag === hint && tags?.[tag] !== undefined)
    : !/(?:^|\.)cache_control$/.test(hint);

/**
 * The caller's tags, which the formats of OpenAI have under the same names. The messages format has one, of any length: the gateway
 * sends a short hash of each (`upstream-body.ts`).
 */
function tagsOf(
  value: Readonly<Record<string, unknown>>,
  from: FormatName,
): NonNullable<Conversation['tags']> {
  const tags: Partial<Record<ChatTag, string>> = {};
  const userId = from === 'messages' ? textOf(recordOf(value.metadata).user_id) : '';
  if (userId !== '') tags.safety_identifier = userId;
  for (const name of TAGS) {
    const tag = value[name];
    if (typeof tag === 'string') tags[name] = tag;
  }
  return tags;
}

/** Whether `metadata` says no more than for whom the call is, and the server is told that. */
const isUserAlone = (
  { metadata }: Readonly<Record<string, unknown>>,
  to: TranslationTarget,
  { dialect }: AskedModel,
): boolean =>
  to === 'chat' &&
  dialect.chatTags.includes('safety_identifier') &&
  isRecord(metadata) &&
  Object.keys(metadata).length === 1 &&
  textOf(metadata.user_id) !== '';

const marksPrefill = ({ dialect: { turns } }: AskedModel): boolean =>
  turns.prefill === 'prefix' || turns.prefill === 'partial';

/** A provider of the messages format would go on with such an answer; most others begin a new one. */
function refusePrefill(messages: unknown, unsupported: UnsupportedFields): void {
  const all = records(messages);
  if (all.at(-1)?.role !== 'assistant') return;
  unsupported.add(`messages[${all.length - 1}].role`, 'an answer that has begun');
}

const TAGS: readonly ChatTag[] = ['user', 'prompt_cache_key', 'safety_identifier'];

/** A schema in words is no promise, so the caller is told. */
function nameLostSchema(
  { response_format: format, text, output_config: output }: Readonly<Record<string, unknown>>,
  { answerFormat }: Conversation,
  { dialect }: AskedModel,
  unsupported: UnsupportedFields,
): void {
  if (answerFormat?.type !== 'json_schema' || dialect.takesSchemas) return;
  if (isRecord(format)) unsupported.leaveOut('response_format.json_schema');
  else if (isRecord(text)) unsupported.leaveOut('text.format.schema');
  else unsupported.leaveOut(isRecord(output) ? 'output_config.format.schema' : 'output_format.schema');
}

/** Some requests leave no place for thinking, and some models never rest: the caller is told which wish was not heeded. */
function nameLostReasoning(
  value: Readonly<Record<string, unknown>>,
  conversation: Conversation,
  asked: AskedModel,
  unsupported: UnsupportedFields,
): void {
  const limits = claudeLimits(asked.upstreamModel);
  if (cannotRest(conversation, limits)) nameRest(value, unsupported);
  if (conversation.reasoning?.enabled !== true || canThink(conversation, asked, limits)) return;
  nameReasoning(value, unsupported);
}

/**
 * A wish for no reasoning is sent only as a word that the caller wrote and the server takes. Some models reason only where they are offered
 * no tools.
 */
function nameLostEffort(
  value: Readonly<Record<string, unknown>>,
  conversation: Conversation,
  { upstreamModel, dialect }: AskedModel,
  unsupported: UnsupportedFields,
): void {
  const { reasoning } = conversation;
  if (reasoning === null) return;
  const limits = gptLimits(upstreamModel);
  const restsToCall = dialect.restsByThinking && isForcedChoice(conversation.toolChoice);
  if (cannotReason(conversation, limits) || (restsToCall && reasoning.enabled))
    nameReasoning(value, unsupported);
  if (reasoning.enabled || dialect.restsByThinking) return;
  const efforts = limits?.efforts ?? dialect.efforts;
  if (reasoning.effort === 'none' && takenEffort('none', efforts) !== undefined) return;
  nameRest(value, unsupported);
}

/** Names the field that asks for no reasoning. */
function nameRest(
  { reasoning_effort: named, reasoning: given }: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): void {
  const { effort, enabled } = isRecord(given) ? given : {};
  if (effort === 'none') unsupported.leaveOut('reasoning.effort');
  else if (enabled === false) unsupported.leaveOut('reasoning.enabled');
  else unsupported.leaveOut(named === 'none' ? 'reasoning_effort' : 'thinking.type');
}

export interface TranslatedRequest {
  object: JsonObject;
  /** The names of the fields that it has no words for, as the caller wrote them. */
  leftOut: readonly string[];
  /** The same of hints, which change no answer. */
  hints: readonly string[];
  /** How the caller knows the tools that an answer may call. */
  toolNames: ToolNames;
  /** Arguments of tools that have other names in it. */
  argumentNames: ArgumentNames;
  /** Its fields that a server takes together with their betas alone. */
  sentBetaFields: readonly string[];
  /** No prompt that a server makes of it can be longer. */
  promptTokensMax: number;
}

function write(
  conversation: Conversation,
  to: TranslationTarget,
  asked: AskedModel,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): Work<WrittenMessages> {
  if (to === 'messages') return writeMessages(conversation, asked, unsupported, marks);
  if (to === 'chat') return writeChat(conversation, asked, unsupported, marks);
  return { body: to.write(conversation, asked, unsupported), argumentNames: NO_NAMES };
}

/** No provider of a model can be asked for it, and the meaning of the request hangs on it. */
export const cannotBeSent = ({ param, words }: UnsupportedField): ApiError =>
  apiError('invalid_request', {
    param,
    message: `No provider of this model can be sent ${words === null ? quote(param) : `${words} (${quote(param)})`}; leave it out, or choose another model.`,
  });

const readers: Readonly<
  Record<
    FormatName,
    (body: Readonly<Record<string, unknown>>, unsupported: UnsupportedFields) => Work<Conversation>
  >
> = { chat: readChat, responses: readResponses, messages: readMessages };

const PARAM_CHARS_SHOWN = 100;
const quote = (param: string): string => `\`${param.slice(0, PARAM_CHARS_SHOWN)}\``;
