import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  type MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { ResponsesTextCount } from '../price/stream-text-count.ts';
import { responsesCounts, StreamUsage, type Usage } from '../price/usage.ts';
import { FrameCheck } from '../scrub/scrub-answer.ts';
import type { ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { isReasonName, tellsError } from './error-record.ts';
import { ResponseRepair } from './response-repair.ts';
import { saysResponseFailed } from './responses-answer.ts';
import { passedUsage, type ShownCharge, showFrame, shownUsage, withShownFrame } from './shown-changes.ts';
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
import { records } from './values.ts';

/** A stream of named events. Its usage comes with the last one, which ends it. */
export class ResponsesStream implements StreamReader {
  readonly namesEvents = true;
  readonly text = new ResponsesTextCount();
  readonly unreadLineEnd: Buffer = DELTA;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly #names: StreamNames;
  #terminal: { type: string; event: JsonObject; response: JsonObject; itemCount: number } | null = null;
  readonly records = new StreamUsage(responsesCounts);
  /** `null`: the gateway reads the stream itself, and knows every way of writing one. */
  readonly #repair: ResponseRepair | null;
  readonly #frameCheck: FrameCheck | null;
  /** The id of the answer, as JSON text, from the first event that has it; empty: none has come. */
  #id = '';

  constructor(names: StreamNames) {
    this.#names = names;
    const { ownId, hidden } = names;
    this.#frameCheck = hidden === undefined ? null : new FrameCheck(hidden, false);
    this.#repair = ownId === undefined ? null : new ResponseRepair(ownId, this.text, hidden?.provider);
  }

  passes(data: Buffer): boolean {
    const event = this.#frameCheck === null ? null : this.text.see(data);
    if (event !== null && (this.#frameCheck?.mayPass(event) === false || event.response !== undefined))
      return false;
    return this.#repair === null || this.#repair.passes(data);
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
    // An event that is written again takes its name from its type.
    const shownName = event === sent ? eventName : '';
    if (response === null)
      return LAST.has(type) ? { kind: 'malformed' } : this.#pass(type, shownName, event, data);
    if (!isJson(data)) return { kind: 'malformed' };
    if (LAST.has(type)) {
      const output = parseJson(memberText(response, 'output') ?? 'null');
      this.#terminal = { type, event, response, itemCount: records(output).length };
      this.text.addOutput(output, parseJson(memberText(response, 'output_text') ?? 'null'));
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
  #pass(type: string, eventName: string, event: JsonObject, data: Buffer): ReadEvent {
    if (!mayHoldRecord(event.bytes) || cutRecords(event).keys.length === 0)
      return this.#repaired(data, event) ?? passNamed(type, eventName, event.bytes);
    if (!isJson(event.bytes)) return { kind: 'malformed' };
    const isBare = !type.startsWith('response.') && event.members.every(({ key }) => FRAME.has(key));
    if (isBare) return { kind: 'kept' };
    const shown = rebuildJsonObject(event, cutRecords(event));
    const scanned = scanJsonObject(shown, answerBounds);
    const repaired = typeof scanned === 'string' ? null : this.#repaired(data, scanned);
    return repaired ?? { kind: 'changed', events: namedEvent(eventName || type, shown) };
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
    return namedEvent(isDone ? name : type, this.#shown(event, response, charge, isDone ? name : null));
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
    showFrame(response, this.#names, changes);
    this.#repairFrame(response, changes);
    const shown = cutRecords(event, ['response', response]);
    if (type !== null) shown.set('type', JSON.stringify(type));
    shown.set('response', rebuildJsonObject(response, changes));
    return rebuildJsonObject(event, shown);
  }

  /** Clients take events under another id for those of another answer, and the items of the last event for all. */
  #repairFrame(response: JsonObject, changes: MemberChanges): void {
    if (this.#repair === null) return;
    const id = changes.get('id') ?? memberText(response, 'id') ?? '';
    if (this.#id === '') this.#id = id.toString();
    else if (id.toString() !== this.#id) changes.set('id', this.#id);
    const output = this.#terminal === null ? null : this.#repair.output(response, this.#terminal.itemCount);
    if (output !== null) changes.set('output', output);
  }
}

/** An event that was sent for its usage alone has nothing but these members. */
const FRAME: ReadonlySet<string> = new Set(['type', 'usage', 'sequence_number', 'response_id']);
const DELTA = Buffer.from('.delta');
const COMPLETED = 'response.completed';
const INCOMPLETE = 'response.incomplete';
/** The end on some servers, whichever way the answer ends. */
const DONE = 'response.done';
const LAST: ReadonlySet<string> = new Set([COMPLETED, INCOMPLETE, 'response.cancelled', DONE]);
