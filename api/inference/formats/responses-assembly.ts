import { MemberChanges, memberText, rebuildJsonObject } from '../json/json-object.ts';
import { parseRecord } from '../json/parse-record.ts';
import type { TextCount } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { ResponseItems, withMissingItems } from './response-items.ts';
import { ResponsesStream } from './responses-stream.ts';
import { records } from './values.ts';

/** The last event of a stream of responses holds the whole answer; some servers leave its items to the events before. */
export class ResponsesAssembly extends CountedElsewhere implements Assembly {
  readonly unreadLineEnd = null;
  readonly namesEvents = false;
  protected readonly counter = new ResponsesStream({ upstreamModel: '', publicModel: '', showUsage: true });
  readonly #items = new ResponseItems();

  get text(): TextCount {
    return this.counter.text;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const event = this.counter.read(data, eventName);
    if (event.kind !== 'plain' && event.kind !== 'changed') return event;
    const value = parseRecord(data);
    if (value !== null) this.#items.add(value);
    return { kind: 'kept' };
  }

  answer(): Buffer | null {
    const response = this.counter.lastResponse;
    if (response === null) return null;
    const items = this.#items.whole(memberText(response, 'status') !== '"incomplete"');
    const last = records(parseRecord(response.bytes)?.output);
    const output = withMissingItems(
      last,
      items.map(({ value }) => value),
    );
    if (output === last) return response.bytes;
    return rebuildJsonObject(response, new MemberChanges([['output', JSON.stringify(output)]]));
  }
}
