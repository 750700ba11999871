import type { NanoUsd } from '#core/money.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import { readUsage, responsesCounts, type SentUsage, type Usage } from '../usage.ts';
import type { ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { isReasonName, tellsError } from './error-record.ts';
import { saysResponseFailed } from './responses-answer.ts';
import { shownUsage } from './shown-changes.ts';
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
  readonly textBytes = null;
  readonly unreadLineEnd: Buffer = DELTA;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly #names: StreamNames;
  #terminal: { type: string; event: JsonObject; response: JsonObject } | null = null;
  #sent: SentUsage | null = null;

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
    // Counts that come before there is an answer are none.
    const usage = isFailed || LAST.has(type) ? presentMember(response, 'usage') : null;
    if (usage !== null) this.#sent = readUsage(usage, responsesCounts);
    if (isFailed) return { kind: 'error' };
    if (LAST.has(type)) {
      this.#terminal = { type, event, response };
      return { kind: 'done' };
    }
    return { kind: 'changed', events: namedEvent(type, this.#shown(event, response, null)) };
  }

  usage(): Usage | null {
    return this.#sent?.usage ?? null;
  }

  /** Of the last event, as it came. */
  get lastResponse(): JsonObject | null {
    return this.#terminal?.response ?? null;
  }

  isComplete(): boolean {
    return this.#terminal !== null;
  }

  end({ shown }: StreamEndView): Buffer {
    if (this.#terminal === null) throw new Error('A stream of responses has no end.');
    const { type, event, response } = this.#terminal;
    return namedEvent(type, this.#shown(event, response, shown));
  }

  #shown(event: JsonObject, response: JsonObject, shown: NanoUsd | null): Buffer {
    const changes = new MemberChanges();
    const usage = objectIn(response, 'usage');
    if (usage !== null || shown !== null) changes.set('usage', shownUsage(usage, shown));
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
