import { formatUsd } from '#core/money.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { addMessages } from '../price/answer-text.ts';
import { EventTextCount, needlesOf, type TextCount } from '../price/stream-text-count.ts';
import { messagesCounts, noTokens, StreamUsage, type Usage } from '../price/usage.ts';
import { AnswerWords } from '../scrub/answer-words.ts';
import type { ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { tellsError } from './error-record.ts';
import { isOfAnotherFormat } from './foreign-events.ts';
import { type BlockNote, MessageRepair } from './message-repair.ts';
import { saysMessagesError } from './messages-answer.ts';
import {
  countersOf,
  passedUsage,
  type ShownCharge,
  showFrame,
  shownUsage,
  withShownFrame,
} from './shown-changes.ts';
import { showMessageEnd } from './shown-reasons.ts';
import {
  DELTA_NEEDLE,
  isDone,
  isJson,
  looksLikeObject,
  namedEvent,
  objectIn,
  passNamed,
  presentMember,
  typedEvent,
  typeOf,
} from './stream-text.ts';
import { cutRecords, mayHoldRecord, usageRecordsIn } from './usage-places.ts';

/**
 * Members and bytes of the usage record in a stream of messages. Each event that has a record rebuilds it,
 * so a provider must not let it grow.
 */
const USAGE_MEMBERS_MAX = 200;
const USAGE_BYTES_MAX = 16 * 1024;

/**
 * A stream of named events. The last `message_delta` is kept for the end, because its totals are shown with the cost.
 * The first counts come with `message_start`; each later one replaces those that it repeats.
 */
export class MessagesStream implements StreamReader {
  readonly namesEvents = true;
  readonly #eventText = new EventTextCount<BlockNote>(TEXT_NEEDLES, addMessages);
  readonly text: TextCount = this.#eventText;
  readonly #names: StreamNames;
  /** `null`: the gateway reads the stream itself, and knows every way of writing one. */
  readonly #repair: MessageRepair | null;
  readonly #words: AnswerWords | undefined;
  readonly records = new StreamUsage(messagesCounts);
  /** The records together, as one. */
  #record: JsonObject | null = null;
  /** What the caller was shown at the beginning. */
  #shownStart: JsonObject | null = null;
  #lastDelta: JsonObject | null = null;
  #stop: Buffer = STOP;

  constructor(names: StreamNames) {
    this.#names = names;
    const { ownId, publicModel, hidden } = names;
    this.#words = hidden === undefined ? undefined : new AnswerWords(hidden);
    this.#repair =
      ownId === undefined ? null : new MessageRepair({ ownId, publicModel, hidden }, this.#eventText);
  }

  get unreadLineEnd(): Buffer | null {
    // What comes after a kept event has to follow it.
    return this.#lastDelta === null ? BLOCK_DELTA : null;
  }

  isKnown(data: Buffer): boolean {
    return this.#repair?.isKnown(data) === true;
  }

  passes(data: Buffer): boolean {
    return data.indexOf(DELTA_NEEDLE) >= 0 && this.#repair?.passes(data) !== false;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    if (isDone(data)) return this.isComplete() ? { kind: 'done' } : { kind: 'malformed' };
    const sent = looksLikeObject(data) ? scanJsonObject(data, answerBounds) : 'not_an_object';
    if (typeof sent === 'string') return { kind: 'malformed' };
    const type = typeOf(sent);
    const object = withShownFrame(sent, this.#names, type === 'message_start' ? null : 'message');
    const isForeign = !FORMAT_TYPE.test(type);
    if (eventName === 'error' || saysMessagesError(object) || (isForeign && tellsError(object)))
      return { kind: 'error' };
    if (isForeign && isOfAnotherFormat(object, 'messages')) return { kind: 'malformed' };
    // An event that is written again takes its name from its type.
    const shownName = object === sent ? eventName : '';
    switch (type) {
      case 'message_start':
        return isJson(data) ? this.#start(object) : { kind: 'malformed' };
      case 'message_delta':
        return isJson(data) ? this.#keep(object) : { kind: 'malformed' };
      case 'message_stop':
        return this.#end(object, object.bytes);
      case 'ping':
        return this.#passPing(shownName, object);
      default:
        return this.#pass(type, shownName, object);
    }
  }

  usage(deliveredTokens: number): Usage | null {
    const { usage, isFinal } = this.records;
    if (usage === null || isFinal) return usage;
    // Only the beginning of an answer that broke off, or was not counted at its end, was counted, and no cost was final.
    const { tokens } = usage;
    const completion = Math.max(tokens.completion, deliveredTokens);
    return { ...usage, tokens: { ...tokens, completion, estimated: true }, reportedAttoUsd: null };
  }

  /** All records together: the last that came of each counter. */
  get usageRecord(): JsonObject | null {
    return this.#record;
  }

  isComplete(): boolean {
    return this.#lastDelta !== null;
  }

  end(charge: StreamEndView): Buffer {
    const delta = this.#lastDelta === null ? ownDelta(charge) : this.#chargedDelta(this.#lastDelta, charge);
    return Buffer.concat([
      this.#repair?.beginMessage() ?? NOTHING,
      this.#repair?.rest() ?? NOTHING,
      namedEvent('message_delta', delta),
      namedEvent('message_stop', this.#stop),
    ]);
  }

  /** Clients keep what the start told them of a counter, unless the end says otherwise. */
  #chargedDelta(delta: JsonObject, charge: ShownCharge): Buffer {
    const sent = objectIn(delta, 'usage');
    const counted = this.records.usage?.tokens ?? noTokens;
    if (sent === null || charge.tokens.estimated === true) {
      return withUsage(delta, shownUsage('messages', null, charge));
    }
    const changes = new MemberChanges([['cost', charge.shown === null ? null : formatUsd(charge.shown)]]);
    for (const [name, count] of counted === noTokens ? [] : countersOf('messages', counted)) {
      const text = memberText(sent, name);
      const known = text ?? (name === 'output_tokens' ? undefined : memberOf(this.#shownStart, name));
      if (Number(known ?? (name === 'output_tokens' ? Number.NaN : 0)) !== count)
        changes.set(name, String(count));
    }
    const scanned = scanJsonObject(passedUsage(sent));
    const passed = typeof scanned === 'string' ? sent : scanned;
    return withUsage(delta, rebuildJsonObject(passed, changes));
  }

  #start(object: JsonObject): ReadEvent {
    const message = objectIn(object, 'message');
    // The answer begins with its first block then, as where no such event comes.
    if (message === null) return { kind: 'kept' };
    const changes = cutRecords(message);
    const usage = objectIn(message, 'usage');
    if (!this.#countAll(object, false)) return { kind: 'malformed' };
    const sent = memberBytes(message, 'usage');
    if (usage !== null) {
      this.#shownStart = usage;
      changes.set('usage', passedUsage(usage));
    } else if (sent !== undefined) changes.set('usage', sent);
    showFrame(message, this.#names, changes);
    showMessageEnd(message, this.#words, changes);
    if (this.#repair?.start(message, changes) === false) return { kind: 'kept' };
    const shown = cutRecords(object);
    shown.set('message', rebuildJsonObject(message, changes));
    return { kind: 'changed', events: namedEvent('message_start', rebuildJsonObject(object, shown)) };
  }

  #keep(object: JsonObject): ReadEvent {
    if (!this.#countAll(object, true)) return { kind: 'malformed' };
    // An event that is kept is counted by nothing else, and some servers have text in it.
    this.#eventText.addEvent(object.bytes);
    const earlier = this.#lastDelta;
    const delta = withOwnUsage(object);
    this.#lastDelta = this.#withShownEnd(this.#repair?.delta(delta) ?? delta);
    if (earlier === null) return { kind: 'kept' };
    const passed = namedEvent('message_delta', this.#passedDelta(earlier));
    return { kind: 'changed', events: Buffer.concat([this.#repair?.beginMessage() ?? NOTHING, passed]) };
  }

  #withShownEnd(event: JsonObject): JsonObject {
    const delta = objectIn(event, 'delta');
    const ofDelta = new MemberChanges();
    if (delta !== null) showMessageEnd(delta, this.#words, ofDelta);
    if (delta === null || ofDelta.keys.length === 0) return event;
    const changes = new MemberChanges([['delta', rebuildJsonObject(delta, ofDelta)]]);
    const scanned = scanJsonObject(rebuildJsonObject(event, changes), answerBounds);
    return typeof scanned === 'string' ? event : scanned;
  }

  /** Some servers count once more in the last event. */
  #end(object: JsonObject, data: Buffer): ReadEvent {
    this.#stop = data;
    this.#eventText.addEvent(data);
    if (usageRecordsIn(object).length === 0) return { kind: 'done' };
    if (!this.#countAll(object, true)) return { kind: 'malformed' };
    this.#stop = rebuildJsonObject(object, cutRecords(object));
    return { kind: 'done' };
  }

  /** Totals that others follow. Clients read a count in them. */
  #passedDelta(delta: JsonObject): Buffer {
    const usage = objectIn(delta, 'usage');
    if (usage !== null) return withUsage(delta, passedUsage(usage));
    return this.#repair === null ? delta.bytes : withUsage(delta, NOTHING_WRITTEN);
  }

  #pass(type: string, eventName: string, object: JsonObject): ReadEvent {
    const passed = this.#passEvent(type, eventName, object);
    const earlier = this.#lastDelta;
    if (earlier === null || passed === null || passed.kind === 'malformed') return passed ?? { kind: 'kept' };
    this.#lastDelta = null;
    this.records.reopen();
    const shown = passed.kind === 'changed' ? passed.events : namedEvent(eventName || type, object.bytes);
    const delta = namedEvent('message_delta', this.#passedDelta(earlier));
    return {
      kind: 'changed',
      events: Buffer.concat([this.#repair?.beginMessage() ?? NOTHING, delta, shown]),
    };
  }

  /** A ping says only that the server is there, so its other members are not shown. */
  #passPing(eventName: string, object: JsonObject): ReadEvent {
    const passed = this.#passEvent('ping', eventName, object) ?? { kind: 'kept' };
    const isBare = this.#names.hidden === undefined || object.members.length === 1;
    return isBare || passed.kind === 'kept' || passed.kind === 'malformed' ? passed : BARE_PING;
  }

  /** An event inside the answer, without its usage record. `null`: it was sent for its record alone. */
  #passEvent(type: string, eventName: string, object: JsonObject): ReadEvent | null {
    if (!mayHoldRecord(object.bytes) || cutRecords(object).keys.length === 0)
      return this.#repaired(type, object) ?? passNamed(type, eventName, object.bytes);
    if (!isJson(object.bytes)) return { kind: 'malformed' };
    const isBare = !FORMAT_TYPE.test(type) && object.members.every(({ key }) => FRAME.has(key));
    // Text may follow an event of the vendor's own that comes before the last delta.
    const isFinal = isBare && this.#lastDelta !== null;
    if (!this.#countAll(object, isFinal)) return { kind: 'malformed' };
    if (isBare) return null;
    const shown = rebuildJsonObject(object, cutRecords(object));
    const scanned = scanJsonObject(shown, answerBounds);
    const repaired = typeof scanned === 'string' ? null : this.#repaired(type, scanned);
    return repaired ?? { kind: 'changed', events: namedEvent(eventName || type, shown) };
  }

  /** `null`: the event is as documented. */
  #repaired(type: string, event: JsonObject): ReadEvent | null {
    const events = this.#repair?.repaired(type, event) ?? null;
    if (events === null) return null;
    if (!isJson(event.bytes)) return { kind: 'malformed' };
    return events.length === 0 ? { kind: 'kept' } : { kind: 'changed', events };
  }

  /** False: more than any answer is counted by. */
  #countAll(event: JsonObject, isFinal: boolean): boolean {
    return usageRecordsIn(event).every((record) => {
      const usage = scanJsonObject(record, answerBounds);
      return typeof usage === 'string' || this.#count(usage, isFinal);
    });
  }

  #count(sent: JsonObject, isFinal: boolean): boolean {
    const usage = isFinal ? sent : withoutCost(sent);
    if (!isSane(usage)) return false;
    const merged = scanJsonObject(this.#record === null ? usage.bytes : laterRecord(this.#record, usage));
    if (typeof merged === 'string' || !isSane(merged)) return false;
    if (isFinal) this.records.addFinal(usage.bytes);
    else this.records.add(usage.bytes);
    this.#record = merged;
    return true;
  }
}

/** Some servers send zeros or nulls first and the truth later, and others the truth first. */
function laterRecord(known: JsonObject, later: JsonObject): Buffer {
  const changes = new MemberChanges();
  for (const { key } of later.members) {
    const value = /^\w+$/.test(key) ? presentMember(later, key) : null;
    if (value === null) continue;
    const isNothing = !/[1-9a-z"]/i.test(value.toString('latin1').replaceAll(KEYS, ''));
    if (!isNothing || presentMember(known, key) === null) changes.set(key, value);
  }
  return rebuildJsonObject(known, changes);
}

/** In a record inside: only its values say something. */
const KEYS = /"\w*"\s*:/g;

const isSane = ({ bytes, members }: JsonObject): boolean =>
  bytes.length <= USAGE_BYTES_MAX && members.length <= USAGE_MEMBERS_MAX;

/** Types of the format itself, which have other members. */
const FORMAT_TYPE = /^(?:message_|content_block_|ping$)/;
const BLOCK_DELTA = Buffer.from(' content_block_delta');
const STOP = Buffer.from('{"type":"message_stop"}');
const BARE_PING: ReadEvent = { kind: 'changed', events: typedEvent('ping', {}) };
const NOTHING = Buffer.alloc(0);
/** Clients take over the counters that are not null. */
const NOTHING_WRITTEN = Buffer.from(
  JSON.stringify({
    input_tokens: null,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
    output_tokens: 0,
    output_tokens_details: null,
    server_tool_use: null,
  }),
);
const TEXT_NEEDLES = needlesOf(['text', 'thinking']);
/** An event that was sent for its usage alone has nothing but these members. */
const FRAME: ReadonlySet<string> = new Set(['type', 'usage', 'index']);

function withoutCost(usage: JsonObject): JsonObject {
  const scanned = scanJsonObject(rebuildJsonObject(usage, new MemberChanges([['cost', null]])));
  return typeof scanned === 'string' ? usage : scanned;
}

/** A delta whose record, wherever it stood, is in its own place, and the only one. */
function withOwnUsage(object: JsonObject): JsonObject {
  const changes = cutRecords(object);
  if (changes.keys.every((key) => key === 'usage')) return object;
  const delta = objectIn(object, 'delta');
  const sent = objectIn(object, 'usage') ?? (delta === null ? null : objectIn(delta, 'usage'));
  if (sent !== null) changes.set('usage', sent.bytes);
  const scanned = scanJsonObject(rebuildJsonObject(object, changes), answerBounds);
  return typeof scanned === 'string' ? object : scanned;
}

const withUsage = (delta: JsonObject, usage: Buffer): Buffer =>
  rebuildJsonObject(delta, new MemberChanges([['usage', usage]]));

const memberOf = (object: JsonObject | null, name: string): string | undefined =>
  object === null ? undefined : memberText(object, name);

/** The end of a stream that had none of its own. */
const ownDelta = (charge: ShownCharge): Buffer =>
  Buffer.from(
    `{"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":null},"usage":${shownUsage('messages', null, charge)}}`,
  );
