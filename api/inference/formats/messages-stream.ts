import type { TokenCounts } from '#core/events/ledger-event.ts';
import { USAGE_BYTES_MAX, USAGE_MEMBERS_MAX } from '#core/limits.ts';
import type { NanoUsd } from '#core/money.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import { messagesCounts, readUsage, type SentUsage, type Usage } from '../usage.ts';
import type { ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { tellsError } from './error-record.ts';
import { saysMessagesError } from './messages-answer.ts';
import { shownUsage } from './shown-changes.ts';
import {
  DELTA_NEEDLE,
  isDone,
  isJson,
  looksLikeObject,
  namedEvent,
  objectIn,
  passNamed,
  presentMember,
  typeOf,
} from './stream-text.ts';

/**
 * A stream of named events. The last `message_delta` is kept for the end, because its totals are shown with the cost.
 * The first counts come with `message_start`; each later one replaces those that it repeats.
 */
export class MessagesStream implements StreamReader {
  readonly namesEvents = true;
  readonly textBytes = null;
  readonly #names: StreamNames;
  #counts: SentUsage | null = null;
  #lastDelta: JsonObject | null = null;
  /** By its last `message_delta`, not only at its beginning. */
  #isCounted = false;
  #stop: Buffer = STOP;

  constructor(names: StreamNames) {
    this.#names = names;
  }

  readonly answerNeedle = DELTA_NEEDLE;

  get unreadLineEnd(): Buffer | null {
    // What comes after a kept event has to follow it.
    return this.#lastDelta === null ? BLOCK_DELTA : null;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    if (isDone(data)) return this.isComplete() ? { kind: 'done' } : { kind: 'malformed' };
    const object = looksLikeObject(data) ? scanJsonObject(data, answerBounds) : 'not_an_object';
    if (typeof object === 'string') return { kind: 'malformed' };
    const type = typeOf(object);
    const isForeign = !FORMAT_TYPE.test(type);
    if (eventName === 'error' || saysMessagesError(object) || (isForeign && tellsError(object)))
      return { kind: 'error' };
    switch (type) {
      case 'message_start':
        return isJson(data) ? this.#start(object) : { kind: 'malformed' };
      case 'message_delta':
        return isJson(data) ? this.#keep(object) : { kind: 'malformed' };
      case 'message_stop':
        this.#stop = data;
        return { kind: 'done' };
      case 'ping':
        return passNamed(type, eventName, data);
      default:
        return this.#pass(type, eventName, data);
    }
  }

  usage(deliveredTokens: number): Usage | null {
    const usage = this.#counts?.usage ?? null;
    if (usage === null || (this.#lastDelta !== null && this.#isCounted)) return usage;
    // Of an answer that broke off, or was not counted at its end, only the beginning was, and no cost was final.
    const { tokens } = usage;
    return {
      ...usage,
      tokens: { ...tokens, completion: Math.max(tokens.completion, deliveredTokens) },
      reportedAttoUsd: null,
    };
  }

  /** The last that came of each counter. */
  get sentUsage(): SentUsage | null {
    return this.#counts;
  }

  isComplete(): boolean {
    return this.#lastDelta !== null;
  }

  end({ shown, tokens }: StreamEndView): Buffer {
    const delta =
      this.#lastDelta === null ? estimatedDelta(tokens, shown) : shownDelta(this.#lastDelta, shown);
    return Buffer.concat([namedEvent('message_delta', delta), namedEvent('message_stop', this.#stop)]);
  }

  #start(object: JsonObject): ReadEvent {
    const message = objectIn(object, 'message');
    if (message === null) return { kind: 'malformed' };
    const changes = new MemberChanges();
    const usage = objectIn(message, 'usage');
    if (usage !== null) {
      // A cost that is said before there is an answer is none of it.
      if (!this.#count(withoutCost(usage))) return { kind: 'malformed' };
      changes.set('usage', shownUsage(usage, null));
    }
    const { upstreamModel, publicModel } = this.#names;
    if (memberText(message, 'model') === JSON.stringify(upstreamModel))
      changes.set('model', JSON.stringify(publicModel));
    const shown = new MemberChanges([['message', rebuildJsonObject(message, changes)]]);
    return { kind: 'changed', events: namedEvent('message_start', rebuildJsonObject(object, shown)) };
  }

  #keep(object: JsonObject): ReadEvent {
    const usage = objectIn(object, 'usage');
    if (usage !== null) {
      if (!this.#count(usage)) return { kind: 'malformed' };
      this.#isCounted = true;
    }
    const earlier = this.#lastDelta;
    this.#lastDelta = object;
    if (earlier === null) return { kind: 'kept' };
    return { kind: 'changed', events: namedEvent('message_delta', shownDelta(earlier, null)) };
  }

  #pass(type: string, eventName: string, data: Buffer): ReadEvent {
    const earlier = this.#lastDelta;
    if (earlier === null) return passNamed(type, eventName, data);
    this.#lastDelta = null;
    const events = [
      namedEvent('message_delta', shownDelta(earlier, null)),
      namedEvent(eventName || type, data),
    ];
    return { kind: 'changed', events: Buffer.concat(events) };
  }

  /** Some servers send zeros or nulls first and the truth later. False: more than any answer is counted by. */
  #count(usage: JsonObject): boolean {
    if (!isSane(usage)) return false;
    const changes = new MemberChanges();
    for (const { key } of usage.members) {
      const value = /^\w+$/.test(key) ? presentMember(usage, key) : null;
      if (value !== null) changes.set(key, value);
    }
    const known = this.#counts?.object;
    const merged = readUsage(
      known === undefined ? usage.bytes : rebuildJsonObject(known, changes),
      messagesCounts,
    );
    if (merged !== null && !isSane(merged.object)) return false;
    this.#counts = merged;
    return true;
  }
}

const isSane = ({ bytes, members }: JsonObject): boolean =>
  bytes.length <= USAGE_BYTES_MAX && members.length <= USAGE_MEMBERS_MAX;

/** Types of the format itself, which have other members. */
const FORMAT_TYPE = /^(?:message_|content_block_|ping$)/;
const BLOCK_DELTA = Buffer.from(' content_block_delta');
const STOP = Buffer.from('{"type":"message_stop"}');

function withoutCost(usage: JsonObject): JsonObject {
  const scanned = scanJsonObject(rebuildJsonObject(usage, new MemberChanges([['cost', null]])));
  return typeof scanned === 'string' ? usage : scanned;
}

const shownDelta = (delta: JsonObject, shown: NanoUsd | null): Buffer =>
  rebuildJsonObject(delta, new MemberChanges([['usage', shownUsage(objectIn(delta, 'usage'), shown)]]));

/** Where the provider counted nothing at the end: what the charge was made of. */
function estimatedDelta({ completion }: TokenCounts, shown: NanoUsd | null): Buffer {
  const usage = scanJsonObject(Buffer.from(`{"output_tokens":${completion}}`));
  const counted = typeof usage === 'string' ? null : shownUsage(usage, shown);
  return Buffer.from(
    `{"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null},"usage":${counted ?? '{}'}}`,
  );
}
