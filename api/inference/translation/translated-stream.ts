import type { ReadEvent, StreamEndView, StreamReader } from '../formats/call-format.ts';
import type { Usage } from '../usage.ts';
import type { AnswerSink } from './answer-sink.ts';
import type { AnswerSource } from './answer-source.ts';

/** A provider's stream in one format, shown in another. */
export class TranslatedStream implements StreamReader {
  readonly unreadLineEnd = null;
  readonly namesEvents = true;
  readonly #source: AnswerSource;
  readonly #sink: AnswerSink;

  constructor(source: AnswerSource, sink: AnswerSink) {
    this.#source = source;
    this.#sink = sink;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const read = this.#source.read(data, eventName);
    if (read.kind !== 'pieces') return read;
    const events = Buffer.concat(read.pieces.map((piece) => this.#sink.write(piece)));
    return events.length === 0 ? { kind: 'kept' } : { kind: 'changed', events };
  }

  usage(deliveredTokens: number): Usage | null {
    return this.#source.usage(deliveredTokens);
  }

  isComplete(): boolean {
    return this.#source.isComplete();
  }

  end(view: StreamEndView): Buffer {
    return this.#sink.end(view);
  }
}
