import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { ResponsesTextCount } from '../price/stream-text-count.ts';
import { responsesCounts, StreamUsage, type Usage } from '../price/usage.ts';
import { FrameCheck } from '../scrub/scrub-answer.ts';
import type { ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { COMPLETED_STATUS, isReasonName, tellsError } from './error-record.ts';
import { EventNumbers } from './event-numbers.ts';
import { isOfAnotherFormat } from './foreign-events.ts';
import { type LastItems, ResponseRepair } from './response-repair.ts';
import { saysResponseFailed } from './responses-answer.ts';
import { passedUsage, type ShownCharge, showFrame, shownUsage, withShownFrame } from './shown-changes.ts';
import {
  DELTA_NEEDLE,
  isJson,
  looksLikeObject,
  namedEvent,
  namedText,
  objectIn,
  passNamed,
  presentMember,
  typeOf,
} from './stream-text.ts';
import { cutRecords, mayHoldRecord, usageRecordsIn } from './usage-places.ts';
import { records } from './values.ts';
import { areItemsReadable } from './whole-items.ts';

/** A stream of named events. Its usage comes with the last one, which ends it. */
export class ResponsesStream implements StreamReader {
  readonly namesEvents = true;
  readonly text = new ResponsesTextCount();
  readonly unreadLineEnd: Buffer = DELTA;
  readonly #names: StreamNames;
  #terminal: { type: string; event: JsonObject; response: JsonObject; items: LastItems } | null = null;
  readonly records = new StreamUsage(responsesCounts);
  /** `null`: the gateway reads the stream itself, and knows every way of writing one. */
  readonly #repair: ResponseRepair | null;
  readonly #frameCheck: FrameCheck | null;
  readonly #numbers = new EventNumbers();
  #isBegun = false;
  /** The event that begins the response, of the gateway's own, until another one is shown. */
  #begun: Buffer = NOTHING;
  /** The id of the answer, as JSON text, from the first event that has it; empty: none has come. */
  #id = '';

  constructor(names: StreamNames) {
    this.#names = names;
    const { ownId, hidden } = names;
    this.#frameCheck = hidden === undefined ? null : new FrameCheck(hidden, false);
    this.#repair =
      ownId === undefined ? null : new ResponseRepair(ownId, this.text, this.#numbers, hidden?.provider);
  }

  /** The number of the next event; `null`: the gateway itself reads the stream. */
  get eventsShown(): number | null {
    return this.#repair === null ? null : this.#numbers.next;
  }

  isKnown(data: Buffer): boolean {
    return this.#repair !== null && this.text.isKnown(data) && this.#passesNumbered(data, this.#repair);
  }

  passes(data: Buffer): boolean {
    if (data.indexOf(DELTA_NEEDLE) < 0) return false;
    const event = this.#frameCheck === null ? null : this.text.see(data);
    if (event !== null && (this.#frameCheck?.mayPass(event) === false || event.response !== undefined))
      return false;
    if (this.#repair === null) return true;
    if (!this.#passesNumbered(data, this.#repair)) return false;
    this.text.notePassed();
    return true;
  }

  #passesNumbered(data: Buffer, repair: ResponseRepair): boolean {
    const number = this.#isBegun ? this.text.see(data)?.sequence_number : undefined;
    if (!this.#numbers.isNext(number) || !repair.passes(data)) return false;
    this.#numbers.take(number);
    return true;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const sent = looksLikeObject(data) ? scanJsonObject(data, answerBounds) : 'not_an_object';
    if (typeof sent === 'string') return { kind: 'malformed' };
    const type = typeOf(sent);
    const isForeign = !type.startsWith('response.');
    const event = withShownFrame(sent, this.#names, isForeign ? 'response' : null);
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
    if (isForeign && isOfAnotherFormat(event, 'responses')) return { kind: 'malformed' };
    // An event that is written again takes its name from its type.
    const shownName = event === sent ? eventName : '';
    if (response === null) {
      if (LAST.has(type)) return { kind: 'malformed' };
      if (!isForeign) this.#begin(null);
      // Clients fail at any event before the first of the response.
      else if (this.#repair !== null && !this.#isBegun) return { kind: 'kept' };
      return this.#behindBegun(this.#pass(type, shownName, event, data), shownName || type, event);
    }
    if (!isJson(data)) return { kind: 'malformed' };
    if (LAST.has(type)) {
      const output = parseJson(memberText(response, 'output') ?? 'null');
      this.#terminal = {
        type,
        event,
        response,
        items: { count: records(output).length, areReadable: areItemsReadable(output) },
      };
      this.text.addOutput(output, parseJson(memberText(response, 'output_text') ?? 'null'));
      return { kind: 'done' };
    }
    if (type === CREATED) {
      // A response begins once.
      if (this.#isBegun && this.#repair !== null) return { kind: 'kept' };
      this.#isBegun = true;
    }
    this.#begin(response);
    const shown = namedEvent(type, this.#shown(event, response, null));
    return { kind: 'changed', events: Buffer.concat([this.#takeBegun(), shown]) };
  }

  /**
   * Writes the event that begins the response, where its server has left it out: clients fail at what comes before it.
   *
   * @param response The response as its first event has it; `null`: that has none.
   */
  #begin(response: JsonObject | null): void {
    const { ownId, createdAtS = 0, publicModel, echo } = this.#names;
    if (this.#isBegun || ownId === undefined) return;
    this.#isBegun = true;
    const head = {
      object: 'response',
      created_at: createdAtS,
      completed_at: null,
      status: 'in_progress',
      error: null,
      incomplete_details: null,
      model: publicModel,
      output: [],
      usage: null,
    };
    const changes = new MemberChanges();
    if (response !== null) showFrame(response, this.#names, changes);
    const sent = response === null ? null : (changes.get('id') ?? presentMember(response, 'id'));
    this.#id = (sent ?? JSON.stringify(ownId)).toString();
    const repeated = echo === undefined ? '' : `,${echo()}`;
    const own = `{"id":${this.#id},${JSON.stringify(head).slice(1, -1)}${repeated}}`;
    const number = `"${NUMBER}":${this.#numbers.take()}`;
    this.#begun = namedText(CREATED, `{"type":"${CREATED}",${number},"response":${own}}`);
  }

  #takeBegun(): Buffer {
    const begun = this.#begun;
    this.#begun = NOTHING;
    return begun;
  }

  /** The event that is shown, behind one that begins the response. */
  #behindBegun(read: ReadEvent, name: string, event: JsonObject): ReadEvent {
    if (this.#begun.length === 0 || (read.kind !== 'plain' && read.kind !== 'changed')) return read;
    const shown = read.kind === 'plain' ? namedEvent(name, event.bytes) : read.events;
    return { kind: 'changed', events: Buffer.concat([this.#takeBegun(), shown]) };
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
  #pass(type: string, eventName: string, event: JsonObject, data: Buffer): ReadEvent {
    if (!mayHoldRecord(event.bytes) || cutRecords(event).keys.length === 0)
      return this.#repaired(data, event) ?? this.#passNumbered(type, eventName, event);
    if (!isJson(event.bytes)) return { kind: 'malformed' };
    const isBare = !type.startsWith('response.') && event.members.every(({ key }) => FRAME.has(key));
    if (isBare) return { kind: 'kept' };
    const scanned = scanJsonObject(rebuildJsonObject(event, cutRecords(event)), answerBounds);
    if (typeof scanned === 'string') return { kind: 'malformed' };
    const shown = this.#repaired(data, scanned) ?? this.#passNumbered(type, eventName, scanned);
    return shown.kind === 'plain'
      ? { kind: 'changed', events: namedEvent(eventName || type, scanned.bytes) }
      : shown;
  }

  /** The event under the next number. Records of the vendor's own need none. */
  #passNumbered(type: string, eventName: string, event: JsonObject): ReadEvent {
    const changes = new MemberChanges();
    const isNumbered = type.startsWith('response.') || memberText(event, NUMBER) !== undefined;
    if (isNumbered) this.#number(event, changes);
    if (changes.keys.length === 0) return passNamed(type, eventName, event.bytes);
    if (!isJson(event.bytes)) return { kind: 'malformed' };
    return { kind: 'changed', events: namedEvent(eventName || type, rebuildJsonObject(event, changes)) };
  }

  /** Gives the event the next number, where it has another one. */
  #number(event: JsonObject, changes: MemberChanges): void {
    if (this.#repair === null) return;
    const sent = memberText(event, NUMBER);
    const number = String(this.#numbers.take(parseJson(sent ?? 'null')));
    if (number !== sent) changes.set(NUMBER, number);
  }

  /** `null`: the event is as documented. */
  #repaired(data: Buffer, event: JsonObject): ReadEvent | null {
    const events = this.#repair?.repaired(data, event) ?? null;
    if (events === null) return null;
    if (events.length > 0) return { kind: 'changed', events };
    // Its text counts although it is shown later.
    this.text.addEvent(data);
    return { kind: 'kept' };
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
    const isDone = type === DONE;
    const name = isDone && memberText(response, 'status') === '"incomplete"' ? INCOMPLETE : COMPLETED;
    this.#begin(response);
    const last = namedEvent(isDone ? name : type, this.#shown(event, response, charge, isDone ? name : null));
    return Buffer.concat([this.#takeBegun(), last]);
  }

  /**
   * @param charge `null`: the answer goes on.
   * @param type Takes the place of the event's own; `null`: nothing does.
   */
  #shown(
    event: JsonObject,
    response: JsonObject,
    charge: ShownCharge | null,
    type: string | null = null,
  ): Buffer {
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
    if (!isReasonName(memberText(response, 'status'))) changes.set('status', COMPLETED_STATUS);
    showFrame(response, this.#names, changes);
    this.#repairFrame(response, changes);
    const shown = cutRecords(event, ['response', response]);
    if (type !== null) shown.set('type', JSON.stringify(type));
    this.#number(event, shown);
    shown.set('response', rebuildJsonObject(response, changes));
    return rebuildJsonObject(event, shown);
  }

  /** Clients take events under another id for those of another answer, and the items of the last event for all. */
  #repairFrame(response: JsonObject, changes: MemberChanges): void {
    if (this.#repair === null) return;
    const id = changes.get('id') ?? memberText(response, 'id') ?? '';
    if (this.#id === '') this.#id = id.toString();
    else if (id.toString() !== this.#id) changes.set('id', this.#id);
    const output = this.#terminal === null ? null : this.#repair.output(response, this.#terminal.items);
    if (output !== null) changes.set('output', output);
  }
}

/** An event that was sent for its usage alone has nothing but these members. */
const FRAME: ReadonlySet<string> = new Set(['type', 'usage', 'sequence_number', 'response_id']);
const DELTA = Buffer.from('.delta');
const NOTHING = Buffer.alloc(0);
const NUMBER = 'sequence_number';
const CREATED = 'response.created';
const COMPLETED = 'response.completed';
const INCOMPLETE = 'response.incomplete';
/** The end on some servers, whichever way the answer ends. */
const DONE = 'response.done';
const LAST: ReadonlySet<string> = new Set([COMPLETED, INCOMPLETE, 'response.cancelled', DONE]);
