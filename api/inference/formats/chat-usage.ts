import { chatCounts, noTokens, StreamUsage, type Usage } from '../price/usage.ts';
import type { UsageCounter } from './counted-elsewhere.ts';

/** Describes a chunk that holds usage records. */
export interface CountedChunk {
  /** Nothing of the answer comes after it. */
  isLast: boolean;
  /** It brings text of the answer itself. */
  hasText: boolean;
}

/**
 * The usage records of a chat, which may stand in any chunk. Some servers count the prompt in the first chunk, or say in each chunk how
 * much they wrote so far, and a stream may break off before the last count: only a count that no text follows is final.
 */
export class ChatUsage implements UsageCounter {
  readonly records = new StreamUsage(chatCounts);
  #isComplete = false;

  add(records: readonly Buffer[], { isLast, hasText }: CountedChunk): void {
    if (hasText) this.textFollows();
    this.#isComplete = isLast;
    for (const record of records) {
      if (isLast || !hasText) this.records.addFinal(record);
      else this.records.add(record);
    }
  }

  /** Text came after the last record. */
  textFollows(): void {
    this.records.reopen();
    this.#isComplete = false;
  }

  /** Nothing of the answer is missing. */
  isComplete(): boolean {
    return this.#isComplete;
  }

  usage(deliveredTokens: number): Usage | null {
    const { usage, isFinal } = this.records;
    if (usage === null || isFinal) return usage;
    const { tokens } = usage;
    if (tokens === noTokens) return null;
    if (deliveredTokens <= tokens.completion) return usage;
    return {
      ...usage,
      tokens: { ...tokens, completion: deliveredTokens, estimated: true },
      reportedAttoUsd: null,
    };
  }
}
