import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import type { ReadEvent, StreamEndView, StreamReader } from '../formats/call-format.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { joinBuffers } from '../json/join-buffers.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { AnswerSink } from './answer-sink.ts';
import type { AnswerSource } from './answer-source.ts';

/**
 * A provider's stream in one format, shown in another. Whatever a provider leaves out or says twice, it begins once and
 * before everything else: clients rely on that.
 */
export class TranslatedStream extends CountedElsewhere implements StreamReader {
  readonly unreadLineEnd = null;
  readonly namesEvents = true;
  protected readonly counter: AnswerSource;
  readonly #sink: AnswerSink;
  #started = false;
  #finished = false;
  readonly #rest: AnswerPiece[] = [];
  /** A tool was called. */
  #calls = false;
  readonly text = countedBy(() => this.counter.text.bytes);

  constructor(source: AnswerSource, sink: AnswerSink) {
    super();
    this.counter = source;
    this.#sink = sink;
  }

  get eventsShown(): number | null {
    return this.#sink.eventsWritten;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const read = this.counter.read(data, eventName);
    if (read.kind === 'done') this.#takeRest();
    if (read.kind !== 'pieces') return read;
    const events = joinBuffers(read.pieces.map((piece) => this.#write(piece)));
    if (this.#sink.keptBytes > JSON_ANSWER_BYTES) return { kind: 'too_long' };
    return events.length === 0 ? { kind: 'kept' } : { kind: 'changed', events };
  }

  end(view: StreamEndView): Buffer {
    this.#takeRest();
    const last = this.#rest.map((piece) => this.#write(piece));
    if (!this.#started) last.push(this.#start(''));
    // Clients wait for the reason, and a server may leave it out.
    if (!this.#finished)
      last.push(
        this.#write({ type: 'finish', reason: this.#calls ? 'tool_calls' : 'stop', stopSequence: null }),
      );
    return Buffer.concat([...last, this.#sink.end(view)]);
  }

  /** Text that the provider left unfinished is shown at the end. */
  #takeRest(): void {
    this.#rest.push(...this.counter.rest());
  }

  #write(piece: AnswerPiece): Buffer {
    if (piece.type === 'finish') this.#finished = true;
    else if (piece.type === 'tool_call') this.#calls = true;
    if (piece.type === 'start') return this.#started ? NOTHING : this.#start(piece.id);
    return this.#started
      ? this.#sink.write(piece)
      : Buffer.concat([this.#start(''), this.#sink.write(piece)]);
  }

  #start(id: string): Buffer {
    this.#started = true;
    return this.#sink.write({ type: 'start', id });
  }
}

const NOTHING = Buffer.alloc(0);
