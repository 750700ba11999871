import type { TokenCounts } from '#core/events/ledger-event.ts';
import { isRecord } from '#core/is-record.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import { type ApiError, errorTable } from '../../contract/errors.ts';
import {
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';

/** One event of a chat stream as far as the gateway has to know it. */
export type ChatEvent =
  | { kind: 'plain' }
  | { kind: 'done' }
  | { kind: 'malformed' }
  | { kind: 'usage'; data: Buffer; object: JsonObject; usage: Buffer; hasChoices: boolean }
  | { kind: 'error'; data: Buffer; object: JsonObject; usage: Buffer | null };

/**
 * Reads an event only where a needle says that it may carry usage or an error; everything else is told apart by
 * its first and last byte. A quoted word inside the answer's text has its quote escaped and is no needle.
 */
export function readChatEvent(bytes: Buffer, startsAt: number, endsAt: number): ChatEvent {
  if (bytes[startsAt] === OPEN_BRACKET) return isDone(bytes, startsAt, endsAt) ? DONE_EVENT : MALFORMED;
  if (bytes[startsAt] !== OPEN_BRACE || bytes[endsAt - 1] !== CLOSE_BRACE) return MALFORMED;
  const data = bytes.subarray(startsAt, endsAt);
  if (data.indexOf(USAGE_NEEDLE) < 0 && data.indexOf(ERROR_NEEDLE) < 0) return PLAIN;

  const object = scanJsonObject(data);
  if (typeof object === 'string') return MALFORMED;
  const usage = presentMember(object, 'usage');
  if (saysError(object)) return { kind: 'error', data, object, usage };
  if (usage === null) return PLAIN;
  // Rare, and rewritten by us: unlike the plain ones it is checked whole.
  if (!isJson(data)) return MALFORMED;
  const choices = memberText(object, 'choices');
  return {
    kind: 'usage',
    data,
    object,
    usage,
    hasChoices: choices !== undefined && !EMPTY_LIST.test(choices),
  };
}

const EMPTY_LIST = /^\[\s*\]$/;

/** An error beside the answer, in its place (some servers say `object: "error"`), or inside a choice. */
export const saysError = (object: JsonObject): boolean =>
  presentMember(object, 'error') !== null ||
  memberText(object, 'object') === '"error"' ||
  choicesFail(object);

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
/** Without its leading quote the search is many times faster. */
export const USAGE_NEEDLE = Buffer.from('usage"');
export const ERROR_NEEDLE = Buffer.from('error"');
const PLAIN: ChatEvent = { kind: 'plain' };
const DONE_EVENT: ChatEvent = { kind: 'done' };
const MALFORMED: ChatEvent = { kind: 'malformed' };

export function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

export const isDone = (bytes: Buffer, startsAt: number, endsAt: number): boolean =>
  bytes.toString('latin1', startsAt, endsAt).trim() === '[DONE]';

function presentMember(object: JsonObject, key: string): Buffer | null {
  const bytes = memberBytes(object, key);
  return bytes === undefined || bytes.equals(NULL) ? null : bytes;
}

const NULL = Buffer.from('null');

function choicesFail(object: JsonObject): boolean {
  const text = memberText(object, 'choices');
  if (text === undefined) return false;
  try {
    const choices: unknown = JSON.parse(text);
    return (
      Array.isArray(choices) &&
      choices.some(
        (choice) => isRecord(choice) && (choice.finish_reason === 'error' || isRecord(choice.error)),
      )
    );
  } catch {
    return false;
  }
}

/** The event as a caller sees it that carried usage beside text: usage comes last, with its cost, or not at all. */
export const withoutUsage = (event: Extract<ChatEvent, { kind: 'usage' }>): Buffer =>
  rebuildJsonObject(event.object, new MemberChanges([['usage', null]]));

/** The caller's own name of the model in the place of the provider's. */
export function withPublicModel(line: Buffer, upstreamModel: string, publicModel: string): Buffer {
  for (const colon of [':', ': ']) {
    const needle = `"model"${colon}${JSON.stringify(upstreamModel)}`;
    const at = line.indexOf(needle);
    if (at < 0) continue;
    const end = at + Buffer.byteLength(needle);
    return Buffer.concat([
      line.subarray(0, at),
      Buffer.from(`"model":${JSON.stringify(publicModel)}`),
      line.subarray(end),
    ]);
  }
  return line;
}

/**
 * Usage as the caller sees it: the provider's counters, our cost, and nothing of what the provider charged us.
 * `null`: the provider sent none that is an object.
 */
export function usageWithCost(usage: JsonObject | null, costNanoUsd: NanoUsd): Buffer {
  const cost = formatUsd(costNanoUsd);
  return usage === null ? Buffer.from(`{"cost":${cost}}`) : withCostText(usage, cost);
}

/** Usage whose cost is not known yet: the counters, and no number that could be taken for the charge. */
export const usageWithoutCost = (usage: JsonObject): Buffer => withCostText(usage, null);

const withCostText = (usage: JsonObject, cost: string | null): Buffer =>
  rebuildJsonObject(
    usage,
    new MemberChanges([
      ['cost', cost],
      ['cost_details', null],
      ['is_byok', null],
    ]),
  );

/** The last chunk of a caller who asked for usage. `publicModel`: the caller's own name of the model. */
export function usageChunk(
  event: Extract<ChatEvent, { usage: Buffer | null }>,
  usage: Buffer,
  publicModel: string | null,
): Buffer {
  const changes = new MemberChanges([
    ['choices', '[]'],
    ['usage', usage],
  ]);
  if (publicModel !== null) changes.set('model', JSON.stringify(publicModel));
  return rebuildJsonObject(event.object, changes);
}

export interface ChunkIdentity {
  id: string;
  createdAtS: number;
  model: string;
}

/** The last chunk where the provider counted nothing: what the gateway counted, and charged by. */
export function estimatedUsageChunk(
  identity: ChunkIdentity,
  tokens: TokenCounts,
  costNanoUsd: NanoUsd,
): Buffer {
  const { prompt, completion } = tokens;
  const counts = `"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion}`;
  const usage = `{${counts},"cost":${formatUsd(costNanoUsd)}}`;
  const { id, createdAtS, model } = identity;
  const frame = JSON.stringify({
    id,
    object: 'chat.completion.chunk',
    created: createdAtS,
    model,
    choices: [],
  });
  return Buffer.from(`${frame.slice(0, -1)},"usage":${usage}}`);
}

/** Spec, chat-completions stream 4: an empty delta, `finish_reason` `error`, and the error. */
export function errorChunk(identity: ChunkIdentity, error: ApiError): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: identity.id,
      object: 'chat.completion.chunk',
      created: identity.createdAtS,
      model: identity.model,
      choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      error: { message: error.message, type: errorTable[error.code].type, code: error.code },
    }),
  );
}
