import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { ResponsesTextCount } from '../price/stream-text-count.ts';
import { responsesCounts, StreamUsage, type Usage } from '../price/usage.ts';
import type { ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { isReasonName, tellsError } from './error-record.ts';
import { saysResponseFailed } from './responses-answer.ts';
import { passedUsage, type ShownCharge, showFrame, shownUsage } from './shown-changes.ts';
import {
  DELTA_NEEDLE,
  isJson,
  looksLikeObject,
  namedEvent,
  objectIn,
  passNamed,
  presentMember,
  typeOf,
} from './stream-text.ts';
import { cutRecords, mayHoldRecord, usageRecordsIn } from './usage-places.ts';

/** A stream of named events. Its usage comes with the last one, which ends it. */
export class ResponsesStream implements StreamReader {
  readonly namesEvents = true;
  readonly text = new ResponsesTextCount();
  readonly unreadLineEnd: Buffer = DELTA;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly #names: StreamNames;
  #terminal: { type: string; event: JsonObject; response: JsonObject } | null = null;
  readonly records = new StreamUsage(responsesCounts);

  constructor(names: StreamNames) {
    this.#names = names;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const event = looksLikeObject(data) ? scanJsonObject(data, answerBounds) : 'not_an_object';
    if (typeof event === 'string') return { kind: 'malformed' };
    const type = typeOf(event);
    const isForeign = !type.startsWith('response.');
    const response = isForeign ? null : objectIn(event, 'response');
    const isError =
      eventName === 'error' ||
      type === 'response.error' ||
      type === 'response.failed' ||
      presentMember(event, 'error') !== null ||
      (isForeign && tellsError(event)) ||
      (response !== null && saysResponseFailed(response));
    const scanned = response === null ? undefined : (['response', response] as const);
    for (const record of usageRecordsIn(event, scanned)) {
      // Text may follow an event of the vendor's own.
      if (isError || LAST.has(type)) this.records.addFinal(record);
      else this.records.addEarly(record);
    }
    if (isError) return { kind: 'error' };
    if (response === null) return LAST.has(type) ? { kind: 'malformed' } : this.#pass(type, eventName, event);
    if (!isJson(data)) return { kind: 'malformed' };
    if (LAST.has(type)) {
      this.#terminal = { type, event, response };
      this.text.addOutput(parseJson(memberText(response, 'output') ?? 'null'));
      return { kind: 'done' };
    }
    return { kind: 'changed', events: namedEvent(type, this.#shown(event, response, null)) };
  }

  /** Counts that come before there is an answer count only where its end has none. */
  usage(deliveredTokens: number): Usage | null {
    const { usage, isFinal } = this.records;
    if (usage === null || isFinal) return usage;
    const { tokens } = usage;
    if (this.#terminal === null || tokens.prompt === 0) return null;
    const completion = Math.max(tokens.completion, deliveredTokens);
    return { ...usage, tokens: { ...tokens, completion, estimated: true }, reportedAttoUsd: null };
  }

  /** An event without a response in it. Its usage record, if it has one, is counted and cut out. */
  #pass(type: string, eventName: string, event: JsonObject): ReadEvent {
    if (!mayHoldRecord(event.bytes) || cutRecords(event).keys.length === 0)
      return passNamed(type, eventName, event.bytes);
    if (!isJson(event.bytes)) return { kind: 'malformed' };
    const shown = rebuildJsonObject(event, cutRecords(event));
    const isBare = !type.startsWith('response.') && event.members.every(({ key }) => FRAME.has(key));
    return isBare ? { kind: 'kept' } : { kind: 'changed', events: namedEvent(eventName || type, shown) };
  }

  /** Of the last event, as it came. */
  get lastResponse(): JsonObject | null {
    return this.#terminal?.response ?? null;
  }

  isComplete(): boolean {
    return this.#terminal !== null;
  }

  end(charge: StreamEndView): Buffer {
    if (this.#terminal === null) throw new Error('A stream of responses has no end.');
    const { type, event, response } = this.#terminal;
    return namedEvent(type, this.#shown(event, response, charge));
  }

  /** @param charge `null`: the answer goes on. */
  #shown(event: JsonObject, response: JsonObject, charge: ShownCharge | null): Buffer {
    const changes = cutRecords(response);
    const sent = memberBytes(response, 'usage') ?? null;
    const usage = objectIn(response, 'usage');
    if (charge !== null) {
      const counted = this.records.isFinal ? this.records.usage : null;
      const record = usage === null ? null : { object: usage, tokens: counted?.tokens ?? null };
      changes.set('usage', shownUsage('responses', record, charge));
    } else if (sent !== null) changes.set('usage', usage === null ? sent : passedUsage(usage));
    const details = objectIn(response, 'incomplete_details');
    if (details !== null && !isReasonName(memberText(details, 'reason')))
      changes.set('incomplete_details', null);
    showFrame(response, this.#names, changes);
    const shown = cutRecords(event, ['response', response]);
    shown.set('response', rebuildJsonObject(response, changes));
    return rebuildJsonObject(event, shown);
  }
}

/** An event that was sent for its usage alone has nothing but these members. */
const FRAME: ReadonlySet<string> = new Set(['type', 'usage', 'sequence_number', 'response_id']);
const DELTA = Buffer.from('.delta');
const LAST: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.cancelled',
]);
