import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { Citation } from '#core/conversation/conversation.ts';

/** Finds the text that each citation of an answer proves, also where the provider does not say it. */
export class CitationSpans {
  #from = 0;
  #to = 0;

  /** @param textLength Characters of the answer's text so far. */
  place({ url, title, from, to }: Extract<AnswerPiece, { type: 'citation' }>, textLength: number): Citation {
    if (from !== undefined && to !== undefined) {
      this.#from = Math.min(from, textLength);
      this.#to = Math.min(to, textLength);
    } else if (textLength > this.#to) {
      // Several pages may prove the same text, so only text that came since begins a new span.
      this.#from = this.#to;
      this.#to = textLength;
    }
    return { url, title, from: this.#from, to: this.#to };
  }
}
