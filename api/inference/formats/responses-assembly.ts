import type { TextCount } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { ResponsesStream } from './responses-stream.ts';
import { DELTA_NEEDLE } from './stream-text.ts';

/** The last event of a stream of responses holds the whole answer. */
export class ResponsesAssembly extends CountedElsewhere implements Assembly {
  readonly unreadLineEnd = null;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly namesEvents = false;
  protected readonly counter = new ResponsesStream({ upstreamModel: '', publicModel: '', showUsage: true });

  get text(): TextCount {
    return this.counter.text;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const event = this.counter.read(data, eventName);
    return event.kind === 'plain' || event.kind === 'changed' ? { kind: 'kept' } : event;
  }

  answer(): Buffer | null {
    return this.counter.lastResponse?.bytes ?? null;
  }
}
