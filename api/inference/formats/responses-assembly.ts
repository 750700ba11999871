import type { TextCount } from '../price/stream-text-count.ts';
import type { StreamUsage, Usage } from '../price/usage.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { ResponsesStream } from './responses-stream.ts';
import { DELTA_NEEDLE } from './stream-text.ts';

/** The last event of a stream of responses holds the whole answer. */
export class ResponsesAssembly implements Assembly {
  readonly unreadLineEnd = null;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly namesEvents = false;
  readonly #stream = new ResponsesStream({ upstreamModel: '', publicModel: '', showUsage: true });

  get text(): TextCount {
    return this.#stream.text;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const event = this.#stream.read(data, eventName);
    return event.kind === 'plain' || event.kind === 'changed' ? { kind: 'kept' } : event;
  }

  get records(): StreamUsage {
    return this.#stream.records;
  }

  usage(deliveredTokens: number): Usage | null {
    return this.#stream.usage(deliveredTokens);
  }

  isComplete(): boolean {
    return this.#stream.isComplete();
  }

  answer(): Buffer | null {
    return this.#stream.lastResponse?.bytes ?? null;
  }
}
