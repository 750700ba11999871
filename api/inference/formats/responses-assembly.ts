import { isRecord } from '#core/is-record.ts';
import {
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
} from '../json/json-object.ts';
import { parseRecord } from '../json/parse-record.ts';
import type { TextCount } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { ResponsesStream } from './responses-stream.ts';
import { DELTA_NEEDLE } from './stream-text.ts';

/** The last event of a stream of responses holds the whole answer; some servers leave its items to the events before. */
export class ResponsesAssembly extends CountedElsewhere implements Assembly {
  readonly unreadLineEnd = null;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly namesEvents = false;
  protected readonly counter = new ResponsesStream({ upstreamModel: '', publicModel: '', showUsage: true });
  /** JSON texts of the items that are done, by their places. */
  readonly #items = new Map<number, string>();

  get text(): TextCount {
    return this.counter.text;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const event = this.counter.read(data, eventName);
    if (event.kind !== 'plain' && event.kind !== 'changed') return event;
    if (data.includes(ITEM_DONE)) this.#keepItem(data);
    return { kind: 'kept' };
  }

  answer(): Buffer | null {
    const response = this.counter.lastResponse;
    if (response === null) return null;
    if (this.#items.size === 0 || hasItems(response)) return response.bytes;
    const items = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    return rebuildJsonObject(response, new MemberChanges([['output', `[${items.join(',')}]`]]));
  }

  #keepItem(data: Buffer): void {
    const event = parseRecord(data);
    if (event?.type !== 'response.output_item.done' || !isRecord(event.item)) return;
    const index = typeof event.output_index === 'number' ? event.output_index : this.#items.size;
    this.#items.set(index, JSON.stringify(event.item));
  }
}

const ITEM_DONE = Buffer.from('response.output_item.done');

const hasItems = (response: JsonObject): boolean =>
  memberBytes(response, 'output') !== undefined &&
  !/^(?:\[\s*\]|null)$/.test(memberText(response, 'output') ?? 'null');
