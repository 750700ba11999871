import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { ReasoningIssuer } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import { CallIds } from '../formats/call-ids.ts';
import { CallNumbers, type CallPiece, callPiecesIn, readCallPiece } from '../formats/call-numbers.ts';
import { callSignatureOf } from '../formats/call-signature.ts';
import { isErrorEvent, isLastChunk } from '../formats/chat-answer.ts';
import { ChatUsage } from '../formats/chat-usage.ts';
import { ChoiceEnds } from '../formats/choice-ends.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { endOfWhole, endWordOf } from '../formats/end-words.ts';
import { isOfAnotherFormat } from '../formats/foreign-events.ts';
import { detailsOfPart, ISSUERS, reasoningDetailsOf } from '../formats/signed-reasoning.ts';
import { isSignOfLife } from '../formats/signs-of-life.ts';
import { isDone } from '../formats/stream-text.ts';
import { usageRecordsIn } from '../formats/usage-places.ts';
import { recordOf, records, textOf } from '../formats/values.ts';
import { withMissing } from '../formats/whole-message.ts';
import { plainNumber } from '../json/exact-json.ts';
import { answerBounds, readJsonObject } from '../json/json-object.ts';
import { parseRecord } from '../json/parse-record.ts';
import { REASONING_NAMES, readAnswerPart, reasoningTextOf } from '../price/answer-part.ts';
import { AnswerText, addChat } from '../price/answer-text.ts';
import { joinedName } from '../price/call-name.ts';
import { changingAt, PieceFrames } from '../price/piece-frame.ts';
import { bringsText } from './add-piece.ts';
import { type AnswerSource, answerIdOf, citationOf, type ReadPieces } from './answer-source.ts';
import { ChatSources } from './chat-sources.ts';

/** Chunks of a chat, of which the first choice is read: a translated call asks for one. A server may spread it over several. */
export class ChatSource extends CountedElsewhere implements AnswerSource {
  protected readonly counter = new ChatUsage();
  readonly text = new AnswerText();
  readonly #frames = new PieceFrames(CHANGING);
  #started = false;
  #id = '';
  /** The last word for the end, said behind all else: one proxy ends every chunk; empty: none came, or it was said. */
  #endWord = '';
  /** The number of the choice that is read. */
  #choiceIndex: unknown = 0;
  readonly #ends = new ChoiceEnds();
  /** The message as a server repeats it beside the pieces, or sends it in the place of them. */
  #repeated: Readonly<Record<string, unknown>> = {};
  /** The kinds of what the pieces have said. */
  readonly #heard = new Set<AnswerPiece['type']>();
  /** Whether the reasoning is read from its details, in which some servers have it whole before the text of it. */
  #readsDetails = false;
  /** The signature of its text, said behind all of it; empty: the provider has not signed it, or it was said. */
  #signature = '';
  readonly #sources = new ChatSources();
  readonly #numbers = new CallNumbers();
  /** By the order in which their server begins them, those included that turn out to be none. */
  readonly #calls: ReadCall[] = [];
  readonly #ids = new CallIds();
  #numbered = 0;
  /** Calls that have a name and no arguments, in the order of their numbers: the next chunk may go on with the name. */
  readonly #waiting = new Set<ReadCall>();
  /** Deltas so far. */
  #chunks = 0;

  read(data: Buffer, eventName: string): ReadPieces {
    if (isDone(data)) return { kind: 'done' };
    if (eventName === 'error') return { kind: 'error' };
    const known = this.#frames.read(data);
    if (known !== null) return this.#take(known, this.#pieces(known), null);
    const read = readJsonObject(data, answerBounds);
    if (typeof read === 'string') return { kind: isErrorEvent(data, null) ? 'error' : 'malformed' };
    const records = usageRecordsIn(read.object);
    const counted = records.length === 0 ? null : { records, isLast: isLastChunk(read.object) };
    if (isErrorEvent(data, read.object)) {
      if (counted !== null) this.counter.add(records, { isLast: counted.isLast, hasText: false });
      return { kind: 'error' };
    }
    if (isOfAnotherFormat(read.object, 'chat')) return { kind: 'malformed' };
    // Arguments that are no text are printed again, so their numbers must keep their digits.
    const value = hasValueArguments(read.value) ? (parseRecord(data) ?? read.value) : read.value;
    const pieces = this.#pieces(value);
    // The next chunk may differ in its text alone, so that it has neither a record nor an error.
    if (counted === null && isOneText(pieces)) this.#frames.note(data, read.value);
    return this.#take(read.value, pieces, counted);
  }

  /** @param counted Its records of usage; `null`: there are none. */
  #take(
    chunk: Record<string, unknown>,
    pieces: readonly AnswerPiece[],
    counted: { records: readonly Buffer[]; isLast: boolean } | null,
  ): ReadPieces {
    addChat(this.text, chunk);
    const hasText = pieces.some(bringsText);
    if (counted !== null) this.counter.add(counted.records, { isLast: counted.isLast, hasText });
    else if (hasText) this.counter.textFollows();
    return { kind: 'pieces', pieces };
  }

  readWhole(_bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[] {
    return [...this.#pieces(value), ...this.rest()];
  }

  /** Some servers count nothing and mark no end, but say why the answer ends. */
  override isComplete(): boolean {
    return this.#ends.areAll || super.isComplete();
  }

  /** Says what the pieces have left out, begins the calls of which no more will come, and says why the answer ends. */
  rest(): AnswerPiece[] {
    const pieces = [...this.#unheard(), ...this.#newSources()];
    for (const [number, call] of this.#calls.entries()) {
      const { index } = call;
      // A call without name and arguments is none: some servers end with a piece of nothing under an id of its own.
      if (index === null) continue;
      if (!call.isOpen) pieces.push(...this.#openCall(call, index));
      const json = this.#numbers.restOf(number);
      if (json !== '') pieces.push({ type: 'arguments', index, json });
    }
    pieces.push(...this.#textSignature());
    if (this.#endWord !== '')
      pieces.push({
        type: 'finish',
        reason: endOfWhole(this.#endWord, this.#numbered > 0),
        stopSequence: null,
      });
    this.#endWord = '';
    return pieces;
  }

  #pieces(answer: Record<string, unknown>): AnswerPiece[] {
    const { id, choices } = answer;
    const pieces: AnswerPiece[] = [];
    if (isSignOfLife(Object.keys(answer), (name) => answer[name])) return pieces;
    this.#sources.note(answer);
    if (!this.#started) {
      this.#started = true;
      this.#id = answerIdOf(id);
      pieces.push({ type: 'start', id: this.#id });
    }
    for (const choice of records(choices)) {
      this.#ends.note(choice);
      const index = plainNumber(choice.index ?? 0);
      // A choice of which there is nothing may end before the one with the answer.
      if (this.#saidNothing()) this.#choiceIndex = index;
      if (index === this.#choiceIndex) pieces.push(...this.#choice(choice));
    }
    return pieces;
  }

  #saidNothing(): boolean {
    return this.#heard.size === 0 && this.#calls.length === 0 && Object.keys(this.#repeated).length === 0;
  }

  #choice({ delta, message, finish_reason }: Record<string, unknown>): AnswerPiece[] {
    const word = endWordOf(finish_reason);
    const pieces = isRecord(delta) ? this.#delta(delta, word !== '') : [];
    if (isRecord(message)) {
      this.#repeated = withMissing(message, this.#repeated);
      this.#sources.note(message);
    }
    this.#endWord = word || this.#endWord;
    return pieces;
  }

  #delta(delta: Record<string, unknown>, isLast: boolean): AnswerPiece[] {
    this.#sources.note(delta);
    const waiting = [...this.#waiting];
    const calls = callsIn(delta);
    this.#chunks++;
    // A piece may go on with the name of a call, or bring its id or its signature.
    const before = calls.length > 0 ? [] : this.#openNamed(waiting);
    const pieces = this.#contents(delta);
    for (const { type } of pieces) this.#heard.add(type);
    const called = this.#callPieces(calls, isLast);
    return [...before, ...pieces, ...called, ...(calls.length > 0 ? this.#openNamed(waiting) : [])];
  }

  /** Begins the calls of earlier chunks whose names this chunk has not gone on with. One without an id waits for its arguments. */
  #openNamed(waiting: readonly ReadCall[]): AnswerPiece[] {
    return waiting.flatMap((call) => {
      if (call.index === null || call.namedIn === this.#chunks || !this.#waiting.delete(call)) return [];
      return call.id === '' ? [] : this.#openCall(call, call.index);
    });
  }

  /** It returns as reasoning that the provider alone can read, because no other format has a place for it. */
  #textSignature(): AnswerPiece[] {
    const data = this.#signature;
    this.#signature = '';
    return data === '' ? [] : [{ type: 'encrypted', data, issuer: { format: ISSUERS.text, id: null } }];
  }

  /** They stand at the end of the text, if there is one, and the server has not named them in annotations. */
  #newSources(): AnswerPiece[] {
    return this.#heard.has('text') && !this.#heard.has('citation') ? this.#sources.newPages() : [];
  }

  /** A message that is sent twice is said once. */
  #unheard(): AnswerPiece[] {
    const repeated = this.#repeated;
    this.#repeated = {};
    const contents = this.#contents(repeated).filter(({ type }) => !this.#heard.has(type));
    for (const { type } of contents) this.#heard.add(type);
    return [...contents, ...(this.#numbered > 0 ? [] : this.#callPieces(callsIn(repeated), true))];
  }

  /** All but the calls. */
  #contents(message: Readonly<Record<string, unknown>>): AnswerPiece[] {
    this.#signature ||= callSignatureOf(message);
    const pieces = [
      ...this.#reasoning(message),
      ...contentPieces(message.content),
      ...pieceOf('refusal', message.refusal),
    ];
    for (const note of records(message.annotations)) {
      const cited = recordOf(note.url_citation);
      pieces.push(...citationOf(cited, { from: cited.start_index, to: cited.end_index }));
    }
    return pieces;
  }

  /** Its text, and what the provider has signed of it: a router's answer has both in `reasoning_details`. */
  #reasoning(message: Readonly<Record<string, unknown>>): AnswerPiece[] {
    const text = reasoningTextOf(message);
    const details = reasoningDetailsOf(message).filter(
      // A member of this name may also sign the answer as a whole.
      ({ format }) => format !== ISSUERS.member || text !== '' || this.#heard.has('reasoning'),
    );
    const said = details.map(wordsOf).join('');
    this.#readsDetails ||= text === '' && said !== '';
    const isRaw = !details.some(({ type }) => type === SUMMARY);
    const isInDetails = this.#readsDetails || text === said;
    const signed = details.flatMap((detail) => detailPieces(detail, isInDetails, isRaw));
    return isInDetails ? signed : [...pieceOfReasoning(text, isRaw), ...signed];
  }

  /** @param isLast The answer ends with them. */
  #callPieces(calls: readonly Record<string, unknown>[], isLast: boolean): AnswerPiece[] {
    return calls.flatMap((call) => this.#call(readCallPiece(call), callSignatureOf(call), isLast));
  }

  /** A call begins with its whole name and its id, of which either may come late. */
  #call(piece: CallPiece, signature: string, isLast: boolean): AnswerPiece[] {
    const { number, json } = this.#numbers.add(piece, { isLast });
    const call = this.#calls[number] ?? newCall();
    this.#calls[number] = call;
    if (piece.name !== '' || piece.json !== '') call.index ??= this.#numbered++;
    const { index } = call;
    if (call.isOpen && index !== null) return laterPieces(call, index, json, signature);
    call.id ||= piece.id;
    call.name = joinedName(call.name, piece.name, call.json !== '');
    call.json += json;
    call.signature ||= signature;
    if (index === null) return [];
    // Arguments that wait for the next piece are arguments all the same.
    if (call.json === '' && !this.#numbers.isWaiting(number)) {
      if (piece.name !== '') call.namedIn = this.#chunks;
      this.#waiting.add(call);
      return [];
    }
    if (call.name === '' && call.json.length <= NAMELESS_CHARS_MAX) return [];
    return [...this.#openBefore(index), ...this.#openCall(call, index)];
  }

  /** Begins the calls with a lower number, whose names are whole now, so that calls begin in their order. */
  #openBefore(index: number): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    for (const call of this.#waiting) {
      if (call.index === null || call.index >= index) break;
      pieces.push(...this.#openCall(call, call.index));
    }
    return pieces;
  }

  #openCall(call: ReadCall, index: number): AnswerPiece[] {
    this.#waiting.delete(call);
    return [...this.#newSources(), ...openCall(call, index, this.#ids.idOf(call.id, this.#id, index))];
  }
}

const CHANGING = [
  ...['content', ...REASONING_NAMES].map((name) => changingAt('choices', 0, 'delta', name)),
  changingAt('obfuscation'),
];

const isOneText = ([piece, ...others]: readonly AnswerPiece[]): boolean =>
  others.length === 0 && TEXTS.has(piece?.type);
const TEXTS: ReadonlySet<unknown> = new Set(['text', 'refusal', 'reasoning']);

/** Whether a call has a value in the place of the text of its arguments, as some servers write it. */
const hasValueArguments = ({ choices }: Readonly<Record<string, unknown>>): boolean =>
  records(choices).some(({ delta, message }) =>
    [delta, message].some((said) => isRecord(said) && callsIn(said).some(isCalledWithValue)),
  );

const isCalledWithValue = (call: Readonly<Record<string, unknown>>): boolean =>
  typeof (recordOf(call.function).arguments ?? '') === 'object';

interface ReadCall {
  id: string;
  name: string;
  /** Arguments that came before the call could begin. */
  json: string;
  /** Empty: the provider has not signed it. */
  signature: string;
  /** Its number among the calls; `null`: it has neither name nor arguments yet. */
  index: number | null;
  isOpen: boolean;
  /** The number of the delta that has the last piece of its name. */
  namedIn: number;
}

const newCall = (): ReadCall => ({
  id: '',
  name: '',
  json: '',
  signature: '',
  index: null,
  isOpen: false,
  namedIn: 0,
});

/** A server may answer in the way that chats had before tools, and some repeat a call in that way. */
function callsIn({
  tool_calls: calls,
  function_call: called,
}: Readonly<Record<string, unknown>>): readonly Record<string, unknown>[] {
  const pieces = callPiecesIn(calls);
  return pieces.length === 0 && isRecord(called) ? [{ index: LEGACY_INDEX, function: called }] : pieces;
}

/** Stands for the number of a call that can have none, because it is the only one. */
const LEGACY_INDEX = 'function_call';

/** Arguments that wait for the name of their call. */
const NAMELESS_CHARS_MAX = 65_536;

function openCall(call: ReadCall, index: number, id: string): AnswerPiece[] {
  const { name, json, signature } = call;
  call.isOpen = true;
  call.json = '';
  const pieces: AnswerPiece[] = signature === '' ? [] : [{ type: 'call_signature', signature }];
  pieces.push({ type: 'tool_call', index, id, name });
  if (json !== '') pieces.push({ type: 'arguments', index, json });
  return pieces;
}

/** Pieces of a call that has begun. Some servers sign it last. */
function laterPieces(call: ReadCall, index: number, json: string, signature: string): AnswerPiece[] {
  const pieces: AnswerPiece[] = [];
  if (call.signature === '' && signature !== '')
    pieces.push({ type: 'call_signature', signature, ofCall: index });
  call.signature ||= signature;
  if (json !== '') pieces.push({ type: 'arguments', index, json });
  return pieces;
}

/** Reads a text, or a list of parts, in which some vendors send reasoning, too. */
function contentPieces(content: unknown): AnswerPiece[] {
  if (typeof content === 'string') return pieceOf('text', content);
  return records(content).flatMap((part) => {
    const signed = detailsOfPart(part);
    if (signed.length > 0)
      return signed.flatMap((detail) => detailPieces(detail, true, detail.type !== SUMMARY));
    const said = readAnswerPart(part);
    if (said === null || said.text === '') return [];
    return said.type === 'reasoning'
      ? [reasoningPiece(said.text, !said.isSummary)]
      : pieceOf(said.type, said.text);
  });
}

/** @param hasWords The reasoning itself is read from the details. A signature stands behind the reasoning that it is for. */
function detailPieces(detail: Record<string, unknown>, hasWords: boolean, isRaw: boolean): AnswerPiece[] {
  const { type, signature, data } = detail;
  const issuer = issuerOf(detail);
  const words = hasWords ? wordsOf(detail) : '';
  const pieces: AnswerPiece[] = words === '' ? [] : [reasoningPiece(words, isRaw)];
  if (textOf(signature) !== '') pieces.push({ type: 'signature', signature: textOf(signature), issuer });
  if (type === 'reasoning.encrypted') pieces.push({ type: 'encrypted', data: textOf(data), issuer });
  return pieces;
}

const SUMMARY = 'reasoning.summary';

const wordsOf = ({ text, summary }: Record<string, unknown>): string => textOf(text) || textOf(summary);

/** Names that are too long to be marks count as not said. */
function issuerOf({ format, id }: Record<string, unknown>): ReasoningIssuer {
  const short = (name: unknown): string =>
    textOf(name).length > UPSTREAM_TEXT_CHARS_MAX ? '' : textOf(name);
  return { format: short(format), id: short(id) || null };
}

const pieceOfReasoning = (text: string, isRaw: boolean): AnswerPiece[] =>
  text === '' ? [] : [reasoningPiece(text, isRaw)];

const reasoningPiece = (text: string, isRaw: boolean): AnswerPiece =>
  isRaw ? { type: 'reasoning', text, isRaw } : { type: 'reasoning', text };

const pieceOf = (type: 'text' | 'refusal', text: unknown): AnswerPiece[] =>
  textOf(text) === '' ? [] : [{ type, text: textOf(text) }];
