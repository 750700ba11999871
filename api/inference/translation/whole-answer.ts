import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import type { AssistantPart, Citation, ReasoningPart, TextPart } from '#core/conversation/conversation.ts';
import { signatureOfCall } from '../formats/call-signature.ts';
import { CitationSpans } from './citation-spans.ts';

/** All pieces of an answer together. */
export class WholeAnswer {
  id = '';
  stopSequence: string | null = null;
  /** In the order in which they began. */
  readonly parts: AssistantPart[] = [];
  readonly #calls = new Map<number, Extract<AssistantPart, { type: 'tool_call' }>>();
  /** The places of the parts of reasoning that began with text. */
  readonly #reasoningAt: number[] = [];
  readonly #spans = new CitationSpans();
  /** Characters of the text that is no refusal. */
  #textLength = 0;
  /** The newest part of text; `null`: there is none yet. */
  #lastText: TextPart | null = null;
  /** Characters of the answer's text before it. */
  #lastTextFrom = 0;
  #finishReason: FinishReason | null = null;

  /** An answer that says no reason for its end has ended with its calls, or by itself. */
  get finishReason(): FinishReason {
    return this.#finishReason ?? (this.#calls.size > 0 ? 'tool_calls' : 'stop');
  }

  static of(pieces: readonly AnswerPiece[]): WholeAnswer {
    const whole = new WholeAnswer();
    for (const piece of pieces) whole.add(piece);
    return whole;
  }

  add(piece: AnswerPiece): void {
    switch (piece.type) {
      case 'start':
        this.id ||= piece.id;
        return;
      case 'text': {
        const last = this.parts.at(-1);
        if (last?.type === 'text' && !last.isRefusal) last.text += piece.text;
        else this.#lastText = this.#addText(piece.text);
        this.#textLength += piece.text.length;
        return;
      }
      case 'refusal': {
        const last = this.parts.at(-1);
        if (last?.type === 'text' && last.isRefusal) last.text += piece.text;
        else this.parts.push({ type: 'text', text: piece.text, isRefusal: true });
        return;
      }
      case 'call_signature': {
        const call = piece.ofCall === undefined ? undefined : this.#calls.get(piece.ofCall);
        const callSignature =
          call === undefined ? piece.signature : signatureOfCall(piece.signature, call.id);
        this.parts.push({ ...EMPTY_REASONING, callSignature });
        return;
      }
      case 'citation': {
        this.#lastText ??= this.#addText('');
        this.#lastText.citations ??= [];
        this.#lastText.citations.push(this.#place(piece));
        return;
      }
      case 'reasoning': {
        if (piece.text === '') return;
        const last = this.parts.at(-1);
        if (last?.type === 'reasoning' && isOpen(last)) last.text += piece.text;
        else {
          this.#reasoningAt.push(this.parts.length);
          this.parts.push({
            ...EMPTY_REASONING,
            text: piece.text,
            ...(piece.isRaw === undefined ? {} : { isRaw: piece.isRaw }),
          });
        }
        return;
      }
      case 'signature':
        this.#sign(piece);
        return;
      case 'encrypted':
        this.parts.push({ ...EMPTY_REASONING, encrypted: piece.data, ...issuedBy(piece) });
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
        this.#finishReason = piece.reason;
        this.stopSequence = piece.stopSequence;
    }
  }

  #sign(piece: Extract<AnswerPiece, { type: 'signature' }>): void {
    const own = this.reasoningPlace(piece);
    const last = own === undefined ? this.parts.at(-1) : this.parts[own];
    const signed = { signature: piece.signature, ...issuedBy(piece) };
    if (last?.type === 'reasoning' && (own !== undefined || isOpen(last))) Object.assign(last, signed);
    else this.parts.push({ ...EMPTY_REASONING, ...signed });
  }

  /** The place of the part that a late signature is for; `undefined`: the signature is not late. */
  reasoningPlace({ ofReasoning }: Extract<AnswerPiece, { type: 'signature' }>): number | undefined {
    return ofReasoning === undefined ? undefined : this.#reasoningAt[ofReasoning];
  }

  #addText(text: string): TextPart {
    const part: TextPart = { type: 'text', text };
    this.parts.push(part);
    this.#lastTextFrom = this.#textLength;
    return part;
  }

  /** A citation counts within its own part, and a part has no text before its beginning. */
  #place(piece: Extract<AnswerPiece, { type: 'citation' }>): Citation {
    const { from, to, ...page } = this.#spans.place(piece, this.#textLength);
    const inPart = (at: number): number => Math.max(0, at - this.#lastTextFrom);
    return { ...page, from: inPart(from), to: inPart(to) };
  }

  /** Nothing came, not even its beginning. */
  get isEmpty(): boolean {
    return this.id === '' && this.parts.length === 0;
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

const issuedBy = ({ issuer }: Pick<ReasoningPart, 'issuer'>): Pick<ReasoningPart, 'issuer'> =>
  issuer === undefined ? {} : { issuer };

/** More of the same reasoning may come. */
const isOpen = ({ signature, encrypted, callSignature }: ReasoningPart): boolean =>
  signature === null && encrypted === null && callSignature === undefined;
