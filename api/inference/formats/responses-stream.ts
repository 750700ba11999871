import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import { ResponsesTextCount } from '../stream-text-count.ts';
import { readUsage, responsesCounts, StreamUsage, type Usage } from '../usage.ts';
import type { ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { isReasonName, tellsError } from './error-record.ts';
import { saysResponseFailed } from './responses-answer.ts';
import { passedUsage, type ShownCharge, shownUsage } from './shown-changes.ts';
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

/** A stream of named events. Its usage comes with the last one, which ends it. */
export class ResponsesStream implements StreamReader {
  readonly namesEvents = true;
  readonly text = new ResponsesTextCount();
  readonly unreadLineEnd: Buffer = DELTA;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly #names: StreamNames;
  #terminal: { type: string; event: JsonObject; response: JsonObject } | null = null;
  readonly #usage = new StreamUsage(responsesCounts);
  /** By its last event, not only before there was an answer. */
  #isCounted = false;

  constructor(names: StreamNames) {
    this.#names = names;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const event = looksLikeObject(data) ? scanJsonObject(data, answerBounds) : 'not_an_object';
    if (typeof event === 'string') return { kind: 'malformed' };
    const type = typeOf(event);
    const isForeign = !type.startsWith('response.');
    if (
      eventName === 'error' ||
      type === 'response.error' ||
      presentMember(event, 'error') !== null ||
      (isForeign && tellsError(event))
    ) {
      return { kind: 'error' };
    }
    const response = type.startsWith('response.') ? objectIn(event, 'response') : null;
    if (response === null) return LAST.has(type) ? { kind: 'malformed' } : passNamed(type, eventName, data);
    if (!isJson(data)) return { kind: 'malformed' };
    const isFailed = type === 'response.failed' || saysResponseFailed(response);
    const usage = presentMember(response, 'usage');
    if (usage !== null) this.#count(usage, isFailed || LAST.has(type));
    if (isFailed) return { kind: 'error' };
    if (LAST.has(type)) {
      this.#terminal = { type, event, response };
      this.text.addOutput(parseJson(memberText(response, 'output') ?? 'null'));
      return { kind: 'done' };
    }
    return { kind: 'changed', events: namedEvent(type, this.#shown(event, response, null)) };
  }

  /** Counts that come before there is an answer count only where its end has none. */
  usage(deliveredTokens: number): Usage | null {
    const { usage } = this.#usage;
    if (usage === null || this.#isCounted) return usage;
    const { tokens } = usage;
    if (this.#terminal === null || tokens.prompt === 0) return null;
    const completion = Math.max(tokens.completion, deliveredTokens);
    return { ...usage, tokens: { ...tokens, completion, estimated: true }, reportedAttoUsd: null };
  }

  #count(usage: Buffer, isLast: boolean): void {
    const sent = readUsage(usage, responsesCounts);
    if (sent === null) return;
    // A cost that is said before there is an answer is none of it.
    this.#usage.addRead(isLast ? sent : { ...sent, reportedAttoUsd: null });
    if (isLast) this.#isCounted = true;
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
    const changes = new MemberChanges();
    const usage = objectIn(response, 'usage');
    if (charge !== null) {
      const counted = this.#isCounted ? this.#usage.usage : null;
      const record = usage === null ? null : { object: usage, tokens: counted?.tokens ?? null };
      changes.set('usage', shownUsage('responses', record, charge));
    } else if (usage !== null) changes.set('usage', passedUsage(usage));
    const details = objectIn(response, 'incomplete_details');
    if (details !== null && !isReasonName(memberText(details, 'reason')))
      changes.set('incomplete_details', null);
    const { upstreamModel, publicModel } = this.#names;
    if (memberText(response, 'model') === JSON.stringify(upstreamModel)) {
      changes.set('model', JSON.stringify(publicModel));
    }
    return rebuildJsonObject(event, new MemberChanges([['response', rebuildJsonObject(response, changes)]]));
  }
}

const DELTA = Buffer.from('.delta');
const LAST: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.cancelled',
]);
