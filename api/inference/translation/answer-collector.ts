import type { Assembly, ReadEvent } from '../formats/call-format.ts';
import { CHOICES_NEEDLE } from '../formats/stream-text.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { StreamUsage, Usage } from '../price/usage.ts';
import type { AnswerSource } from './answer-source.ts';
import { WholeAnswer } from './whole-answer.ts';

/** Reads a provider's stream for a caller who waits for the whole answer: nothing of it is shown as it comes. */
export class AnswerCollector implements Omit<Assembly, 'answer'> {
  readonly unreadLineEnd = null;
  readonly answerNeedle = CHOICES_NEEDLE;
  readonly namesEvents = false;
  readonly whole = new WholeAnswer();
  readonly text = countedBy(() => this.whole.bytes);
  readonly #source: AnswerSource;

  constructor(source: AnswerSource) {
    this.#source = source;
  }

  read(data: Buffer, eventName: string): ReadEvent {
    const read = this.#source.read(data, eventName);
    if (read.kind !== 'pieces') return read;
    for (const piece of read.pieces) this.whole.add(piece);
    return { kind: 'kept' };
  }

  get records(): StreamUsage {
    return this.#source.records;
  }

  usage(deliveredTokens: number): Usage | null {
    return this.#source.usage(deliveredTokens);
  }

  isComplete(): boolean {
    return this.#source.isComplete();
  }
}
