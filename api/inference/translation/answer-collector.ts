import type { Assembly, ReadEvent } from '../formats/call-format.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { AnswerSource } from './answer-source.ts';
import { WholeAnswer } from './whole-answer.ts';

/** Reads a provider's stream for a caller who waits for the whole answer: nothing of it is shown as it comes. */
export class AnswerCollector extends CountedElsewhere implements Omit<Assembly, 'answer'> {
  readonly unreadLineEnd = null;
  readonly namesEvents = false;
  readonly whole = new WholeAnswer();
  readonly text = countedBy(() => this.counter.text.bytes);
  protected readonly counter: AnswerSource;

  constructor(source: AnswerSource) {
    super();
    this.counter = source;
  }

  /** The whole answer, once its stream is complete. */
  finish(): WholeAnswer {
    for (const piece of this.counter.rest()) this.whole.add(piece);
    return this.whole;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const read = this.counter.read(data, eventName);
    if (read.kind !== 'pieces') return read;
    for (const piece of read.pieces) this.whole.add(piece);
    return { kind: 'kept' };
  }
}
