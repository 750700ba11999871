import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import type { ReasoningIssuer } from '#core/conversation/conversation.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import {
  CallNumbers,
  type CallPiece,
  callPiecesIn,
  madeCallId,
  readCallPiece,
} from '../formats/call-numbers.ts';
import { callSignatureOf } from '../formats/call-signature.ts';
import { isErrorEvent, isLastChunk } from '../formats/chat-answer.ts';
import { ChatUsage } from '../formats/chat-usage.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { isDone } from '../formats/stream-text.ts';
import { usageRecordsIn } from '../formats/usage-places.ts';
import { recordOf, records, textOf } from '../formats/values.ts';
import { answerBounds, readJsonObject } from '../json/json-object.ts';
import { bringsText } from './add-piece.ts';
import { type AnswerSource, answerIdOf, citationOf, type ReadPieces } from './answer-source.ts';

/** Chunks of a chat, of which the first choice is read: a translated call asks for one. */
export class ChatSource extends CountedElsewhere implements AnswerSource {
  protected readonly counter = new ChatUsage();
  #started = false;
  #id = '';
  #finished = false;
  readonly #numbers = new CallNumbers();
  /** By their numbers. */
  readonly #calls: ReadCall[] = [];

  read(data: Buffer, eventName: string): ReadPieces {
    if (isDone(data)) return { kind: 'done' };
    if (eventName === 'error') return { kind: 'error' };
    const read = readJsonObject(data, answerBounds);
    if (typeof read === 'string') return { kind: isErrorEvent(data, null) ? 'error' : 'malformed' };
    const records = usageRecordsIn(read.object);
    const isError = isErrorEvent(data, read.object);
    const pieces = isError ? [] : this.#pieces(read.value);
    const hasText = pieces.some(bringsText);
    if (records.length > 0) this.counter.add(records, { isLast: isLastChunk(read.object), hasText });
    else if (hasText) this.counter.textFollows();
    return isError ? { kind: 'error' } : { kind: 'pieces', pieces };
  }

  readWhole(_bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[] {
    return [...this.#pieces(value), ...this.rest()];
  }

  /** Begins the calls of which no more will come. */
  rest(): AnswerPiece[] {
    return this.#calls.flatMap((call, index) => (call.isOpen ? [] : openCall(call, index, this.#id)));
  }

  #pieces({ id, choices }: Record<string, unknown>): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    if (!this.#started) {
      this.#started = true;
      this.#id = answerIdOf(id);
      pieces.push({ type: 'start', id: this.#id });
    }
    const [choice] = records(choices);
    if (choice === undefined) return pieces;
    // Some servers send the whole message in their last chunk, or in their only one.
    const delta = recordOf(choice.delta ?? choice.message);
    pieces.push(
      ...reasoningPieces(delta),
      ...contentPieces(delta.content),
      ...pieceOf('refusal', delta.refusal),
    );
    for (const note of records(delta.annotations)) {
      const cited = recordOf(note.url_citation);
      pieces.push(...citationOf(cited, { from: cited.start_index, to: cited.end_index }));
    }
    for (const call of callPiecesIn(delta.tool_calls))
      pieces.push(...this.#call(readCallPiece(call), callSignatureOf(call)));
    const reason = textOf(choice.finish_reason);
    if (reason !== '' && !this.#finished) {
      this.#finished = true;
      pieces.push(...this.rest());
      pieces.push({ type: 'finish', reason: this.#reason(reason), stopSequence: null });
    }
    return pieces;
  }

  /** A call begins with its name and its id, of which either may come late. */
  #call(piece: CallPiece, signature: string): AnswerPiece[] {
    const index = this.#numbers.numberOf(piece);
    const call = this.#calls[index] ?? { id: '', name: '', json: '', signature: '', isOpen: false };
    this.#calls[index] = call;
    if (call.isOpen) return piece.json === '' ? [] : [{ type: 'arguments', index, json: piece.json }];
    call.id ||= piece.id;
    call.name ||= piece.name;
    call.json += piece.json;
    call.signature ||= signature;
    const hasBegun = call.name !== '' && (call.id !== '' || call.json !== '');
    return hasBegun || call.json.length > NAMELESS_CHARS_MAX ? openCall(call, index, this.#id) : [];
  }

  #reason(reason: string): FinishReason {
    // Some servers say `stop` after a call of a tool.
    if (
      reason === 'tool_calls' ||
      reason === 'function_call' ||
      (reason === 'stop' && this.#calls.length > 0)
    )
      return 'tool_calls';
    return reason === 'length' || reason === 'content_filter' ? reason : 'stop';
  }
}

interface ReadCall {
  id: string;
  name: string;
  /** Arguments that came before the call could begin. */
  json: string;
  /** Empty: the provider has not signed it. */
  signature: string;
  isOpen: boolean;
}

/** Arguments that wait for the name of their call. */
const NAMELESS_CHARS_MAX = 65_536;

function openCall(call: ReadCall, index: number, answerId: string): AnswerPiece[] {
  const { id, name, json, signature } = call;
  call.isOpen = true;
  call.json = '';
  const pieces: AnswerPiece[] = signature === '' ? [] : [{ type: 'call_signature', signature }];
  pieces.push({ type: 'tool_call', index, id: id || madeCallId(answerId, index), name });
  if (json !== '') pieces.push({ type: 'arguments', index, json });
  return pieces;
}

/** Reads a text, or a list of parts, in which one vendor sends reasoning, too. */
function contentPieces(content: unknown): AnswerPiece[] {
  if (typeof content === 'string') return pieceOf('text', content);
  return records(content).flatMap(({ type, text, refusal, thinking }) => {
    if (type === 'text') return pieceOf('text', text);
    if (type === 'refusal') return pieceOf('refusal', refusal);
    if (type !== 'thinking') return [];
    const parts = typeof thinking === 'string' ? [{ text: thinking }] : records(thinking);
    return parts.flatMap(({ text: thought }) =>
      textOf(thought) === '' ? [] : [reasoningPiece(textOf(thought), true)],
    );
  });
}

/** Its text, and what the provider has signed of it: a router's answer has both in `reasoning_details`. */
function reasoningPieces(delta: Record<string, unknown>): AnswerPiece[] {
  const text = textOf(delta.reasoning) || textOf(delta.reasoning_content);
  const details = records(delta.reasoning_details);
  const said = details.map((detail) => textOf(detail.text) || textOf(detail.summary)).join('');
  const isSummary = details.some(({ type }) => type === 'reasoning.summary');
  const pieces = text === '' && said === '' ? [] : [reasoningPiece(text || said, !isSummary)];
  for (const detail of details) {
    const { type, signature, data } = detail;
    const issuer = issuerOf(detail);
    if (textOf(signature) !== '') pieces.push({ type: 'signature', signature: textOf(signature), issuer });
    if (type === 'reasoning.encrypted') pieces.push({ type: 'encrypted', data: textOf(data), issuer });
  }
  return pieces;
}

/** Names that are too long to be marks count as not said. */
function issuerOf({ format, id }: Record<string, unknown>): ReasoningIssuer {
  const short = (name: unknown): string =>
    textOf(name).length > UPSTREAM_TEXT_CHARS_MAX ? '' : textOf(name);
  return { format: short(format), id: short(id) || null };
}

const reasoningPiece = (text: string, isRaw: boolean): AnswerPiece =>
  isRaw ? { type: 'reasoning', text, isRaw } : { type: 'reasoning', text };

const pieceOf = (type: 'text' | 'refusal', text: unknown): AnswerPiece[] =>
  textOf(text) === '' ? [] : [{ type, text: textOf(text) }];
