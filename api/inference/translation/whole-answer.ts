import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import type { AssistantPart } from '#core/conversation/conversation.ts';
import { AnswerText } from '../price/answer-text.ts';
import { addPiece } from './add-piece.ts';

/** All pieces of an answer together. */
export class WholeAnswer {
  id = '';
  finishReason: FinishReason = 'stop';
  stopSequence: string | null = null;
  /** In the order in which they began. */
  readonly parts: AssistantPart[] = [];
  readonly #text = new AnswerText();
  readonly #calls = new Map<number, Extract<AssistantPart, { type: 'tool_call' }>>();

  static of(pieces: readonly AnswerPiece[]): WholeAnswer {
    const whole = new WholeAnswer();
    for (const piece of pieces) whole.add(piece);
    return whole;
  }

  add(piece: AnswerPiece): void {
    addPiece(this.#text, piece);
    this.#join(piece);
  }

  #join(piece: AnswerPiece): void {
    switch (piece.type) {
      case 'start':
        this.id ||= piece.id;
        return;
      case 'text': {
        const last = this.parts.at(-1);
        if (last?.type === 'text') last.text += piece.text;
        else this.parts.push({ type: 'text', text: piece.text });
        return;
      }
      case 'citation': {
        this.#join({ type: 'text', text: '' });
        const last = this.parts.at(-1);
        if (last?.type !== 'text') return;
        last.citations ??= [];
        last.citations.push({ url: piece.url, title: piece.title, at: last.text.length });
        return;
      }
      case 'reasoning': {
        const last = this.parts.at(-1);
        if (last?.type === 'reasoning' && last.signature === null && last.encrypted === null) {
          last.text += piece.text;
        } else this.parts.push({ type: 'reasoning', text: piece.text, signature: null, encrypted: null });
        return;
      }
      case 'signature': {
        const last = this.parts.at(-1);
        const { signature } = piece;
        if (last?.type === 'reasoning' && last.signature === null && last.encrypted === null) {
          last.signature = signature;
        } else this.parts.push({ type: 'reasoning', text: '', signature, encrypted: null });
        return;
      }
      case 'encrypted':
        this.parts.push({ type: 'reasoning', text: '', signature: null, encrypted: piece.data });
        return;
      case 'tool_call': {
        const call = { type: 'tool_call' as const, id: piece.id, name: piece.name, argumentsJson: '' };
        this.#calls.set(piece.index, call);
        this.parts.push(call);
        return;
      }
      case 'arguments': {
        const call = this.#calls.get(piece.index);
        if (call !== undefined) call.argumentsJson += piece.json;
        return;
      }
      case 'finish':
        this.finishReason = piece.reason;
        this.stopSequence = piece.stopSequence;
    }
  }

  /** Nothing came, not even its beginning. */
  get isEmpty(): boolean {
    return this.id === '' && this.parts.length === 0;
  }

  /** The text that an estimate counts. */
  get bytes(): number {
    return this.#text.bytes;
  }

  get text(): string {
    return this.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  }
}
