import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import type { AssistantPart, ReasoningPart } from '#core/conversation/conversation.ts';
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
        if (last?.type === 'text' && !last.isRefusal) last.text += piece.text;
        else this.parts.push({ type: 'text', text: piece.text });
        return;
      }
      case 'refusal': {
        const last = this.parts.at(-1);
        if (last?.type === 'text' && last.isRefusal) last.text += piece.text;
        else this.parts.push({ type: 'text', text: piece.text, isRefusal: true });
        return;
      }
      case 'call_signature':
        this.parts.push({ ...EMPTY_REASONING, callSignature: piece.signature });
        return;
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
        if (last?.type === 'reasoning' && isOpen(last)) last.text += piece.text;
        else
          this.parts.push({
            ...EMPTY_REASONING,
            text: piece.text,
            ...(piece.isRaw === undefined ? {} : { isRaw: piece.isRaw }),
          });
        return;
      }
      case 'signature': {
        const last = this.parts.at(-1);
        const { signature } = piece;
        if (last?.type === 'reasoning' && isOpen(last)) last.signature = signature;
        else this.parts.push({ ...EMPTY_REASONING, signature });
        return;
      }
      case 'encrypted':
        this.parts.push({ ...EMPTY_REASONING, encrypted: piece.data });
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

  /** Without what the model says of why it does not answer. */
  get text(): string {
    return this.parts.map((part) => (part.type === 'text' && !part.isRefusal ? part.text : '')).join('');
  }

  /** `null`: the model does not refuse. */
  get refusal(): string | null {
    const texts = this.parts.flatMap((part) => (part.type === 'text' && part.isRefusal ? [part.text] : []));
    return texts.length === 0 ? null : texts.join('');
  }
}

const EMPTY_REASONING = { type: 'reasoning' as const, text: '', signature: null, encrypted: null };

/** More of the same reasoning may come. */
const isOpen = ({ signature, encrypted, callSignature }: ReasoningPart): boolean =>
  signature === null && encrypted === null && callSignature === undefined;
