import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import type { Citation, ReasoningIssuer } from '#core/conversation/conversation.ts';
import { OWN_REASONING_FORMAT } from '../../providers/signed-reasoning.ts';
import type { AnswerIdentity, StreamEndView } from '../formats/call-format.ts';
import { withCallSignature } from '../formats/call-signature.ts';
import { ANSWERED_BY } from '../formats/chat-answer.ts';
import { dataText } from '../formats/stream-text.ts';
import { chatUsageText } from '../formats/usage-text.ts';
import type { AnswerSink, WrittenAnswer } from './answer-sink.ts';
import { CitationSpans } from './citation-spans.ts';
import { customInput } from './custom-tools.ts';
import { placeSignaturesIn } from './place-signatures.ts';
import type { ToolNames } from './tool-names.ts';
import { type ChatCall, chatCallsOf } from './tool-words.ts';
import type { WholeAnswer } from './whole-answer.ts';

/** How a caller of the chat format is shown the answer to its own request. */
export interface ShownChat {
  showUsage: boolean;
  showReasoning: boolean;
  names: ToolNames;
}

interface OpenCall {
  isCustom: boolean;
  /** It is shown as the one `function_call` of the answer. */
  isLegacy: boolean;
  isEmpty: boolean;
  /** The call is one of a custom tool. */
  json: string;
}

/** Chunks of a chat. */
export class ChatSink implements AnswerSink {
  readonly eventsWritten = null;
  #keptBytes = 0;
  readonly #identity: AnswerIdentity;
  readonly #showUsage: boolean;
  readonly #showReasoning: boolean;
  readonly #names: ToolNames;
  /** Calls by their indexes. */
  readonly #calls = new Map<number, OpenCall>();
  #callsInOldWay = false;
  /** The call that is shown as the one `function_call`; `null`: none is. */
  #legacyIndex: number | null = null;
  /** It belongs to the next call; empty: the provider has not signed it. */
  #signature = '';
  #id = '';
  #textLength = 0;
  readonly #spans = new CitationSpans();
  #framed: string | null = null;
  /** Numbers the reasoning that is open or comes next: clients join pieces of one number. */
  #reasoningIndex = 0;
  #thinks = false;
  /** The numbers of the reasoning that began with text. */
  readonly #textReasonings: number[] = [];

  constructor(identity: AnswerIdentity, { showUsage, showReasoning, names }: ShownChat) {
    this.#identity = identity;
    this.#showUsage = showUsage;
    this.#showReasoning = showReasoning;
    this.#names = names;
  }

  /** The texts of custom tools. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  write(piece: AnswerPiece): Buffer {
    if (!this.#showReasoning && REASONING_PIECES.has(piece.type)) return NOTHING;
    switch (piece.type) {
      case 'start':
        this.#id = piece.id || this.#identity.id;
        this.#framed = null;
        return this.#chunk({ role: 'assistant', content: '' });
      case 'text':
        this.#endReasoning();
        this.#textLength += piece.text.length;
        return this.#chunk({ content: piece.text });
      case 'refusal':
        this.#endReasoning();
        return this.#chunk({ refusal: piece.text });
      case 'call_signature':
        if (piece.ofCall !== undefined) return this.#signCall(piece.ofCall, piece.signature);
        this.#signature = piece.signature;
        return NOTHING;
      case 'citation':
        return this.#chunk({ annotations: [annotationOf(this.#spans.place(piece, this.#textLength))] });
      case 'reasoning': {
        const { text } = piece;
        if (text === '') return NOTHING;
        if (!this.#thinks) this.#textReasonings.push(this.#reasoningIndex);
        this.#thinks = true;
        const detail = { type: 'reasoning.text', text, index: this.#reasoningIndex };
        return this.#chunk({ reasoning: text, reasoning_details: [detail] });
      }
      case 'signature': {
        const { signature, ofReasoning } = piece;
        const detail = { type: 'reasoning.text', text: '', signature, ...issuerText(piece.issuer) };
        const index = ofReasoning === undefined ? undefined : this.#textReasonings[ofReasoning];
        if (index !== undefined) return this.#chunk({ reasoning_details: [{ ...detail, index }] });
        this.#thinks = true;
        return this.#lastOfReasoning(detail);
      }
      case 'encrypted':
        this.#endReasoning();
        this.#thinks = true;
        return this.#lastOfReasoning({
          type: 'reasoning.encrypted',
          data: piece.data,
          ...issuerText(piece.issuer),
        });
      case 'tool_call':
        this.#endReasoning();
        return this.#beginCall(piece);
      case 'arguments':
        return this.#arguments(piece.index, piece.json);
      case 'finish':
        return Buffer.concat([
          ...this.#endCalls(),
          this.#chunk({}, reasonOf(piece.reason, this.#callsInOldWay)),
        ]);
    }
  }

  end({ shown, tokens }: StreamEndView): Buffer {
    // Some servers send the arguments of a call behind the reason of the end.
    const last = [...this.#endCalls()];
    if (this.#showUsage)
      last.push(dataText(`{${this.#frame()},"choices":[],"usage":${chatUsageText(tokens, shown)}}`));
    return Buffer.concat([...last, dataText('[DONE]')]);
  }

  #beginCall({ index, id, name }: Extract<AnswerPiece, { type: 'tool_call' }>): Buffer {
    const tool = this.#names.get(name);
    const isCustom = tool?.isCustom === true;
    const isLegacy = tool?.isLegacy === true && !this.#callsInOldWay;
    this.#callsInOldWay ||= isLegacy;
    if (isLegacy) this.#legacyIndex = index;
    this.#calls.set(index, { isCustom, isLegacy, json: '', isEmpty: true });
    const signature = this.#signature;
    this.#signature = '';
    const shown = tool?.name ?? name;
    if (isLegacy) return this.#chunk({ function_call: { name: shown, arguments: '' } });
    const called = isCustom
      ? { type: 'custom', custom: { name: shown, input: '' } }
      : { type: 'function', function: { name: shown, arguments: '' } };
    const call = { index, id, ...called };
    return this.#chunk({ tool_calls: [signature === '' ? call : withCallSignature(call, signature)] });
  }

  /** Clients join the pieces of one number. An answer in the old way has no place for a signature. */
  #signCall(index: number, signature: string): Buffer {
    if (this.#legacyIndex === index) return NOTHING;
    return this.#chunk({ tool_calls: [withCallSignature({ index }, signature)] });
  }

  /** The text of a custom tool is known once all its JSON is here. */
  #arguments(index: number, json: string): Buffer {
    const call = this.#calls.get(index);
    if (call === undefined) return NOTHING;
    call.isEmpty = false;
    if (!call.isCustom) return this.#chunk(argumentsOf(index, json, call));
    call.json += json;
    this.#keptBytes += json.length;
    return NOTHING;
  }

  #endCalls(): Buffer[] {
    const ended: Buffer[] = [];
    for (const [index, call] of this.#calls) {
      const { isCustom, isEmpty, json } = call;
      if (isCustom || isEmpty) this.#calls.delete(index);
      if (isCustom)
        ended.push(this.#chunk({ tool_calls: [{ index, custom: { input: customInput(json) } }] }));
      else if (isEmpty) ended.push(this.#chunk(argumentsOf(index, '{}', call)));
    }
    return ended;
  }

  #lastOfReasoning(detail: object): Buffer {
    const index = this.#reasoningIndex;
    this.#endReasoning();
    return this.#chunk({ reasoning_details: [{ ...detail, index }] });
  }

  #endReasoning(): void {
    if (this.#thinks) this.#reasoningIndex++;
    this.#thinks = false;
  }

  #chunk(delta: object, finishReason: string | null = null): Buffer {
    const choices = JSON.stringify([{ index: 0, delta, finish_reason: finishReason }]);
    return dataText(`{${this.#frame()},"choices":${choices}}`);
  }

  /** The same in every chunk from the first on. */
  #frame(): string {
    if (this.#framed !== null) return this.#framed;
    const { createdAtS, model } = this.#identity;
    const frame = {
      id: this.#id,
      object: 'chat.completion.chunk',
      created: createdAtS,
      model,
      provider: ANSWERED_BY,
    };
    this.#framed = JSON.stringify(frame).slice(1, -1);
    return this.#framed;
  }
}

const REASONING_PIECES: ReadonlySet<AnswerPiece['type']> = new Set(['reasoning', 'signature', 'encrypted']);
const NOTHING = Buffer.alloc(0);

/** A router's clients return reasoning with the name of its issuer, by which it is told from that of other vendors. */
const issuerText = (issuer: ReasoningIssuer | undefined): object =>
  issuer === undefined
    ? { format: OWN_REASONING_FORMAT }
    : { format: issuer.format, ...(issuer.id === null ? {} : { id: issuer.id }) };

const argumentsOf = (index: number, json: string, { isLegacy }: OpenCall): object =>
  isLegacy
    ? { function_call: { arguments: json } }
    : { tool_calls: [{ index, function: { arguments: json } }] };

/** A caller who knows no tools has a word of its own for the end of an answer that calls one. */
const reasonOf = (reason: FinishReason, callsInOldWay: boolean): string =>
  reason === 'tool_calls' && callsInOldWay ? 'function_call' : reason;

const annotationOf = ({ url, title, from, to }: Citation): object => ({
  type: 'url_citation',
  url_citation: { url, title, start_index: from, end_index: to },
});

/** Of all texts together. */
function annotationsOf({ parts }: WholeAnswer): object[] | undefined {
  const annotations: object[] = [];
  let before = 0;
  for (const part of parts) {
    if (part.type !== 'text') continue;
    for (const citation of part.citations ?? [])
      annotations.push(annotationOf({ ...citation, from: before + citation.from, to: before + citation.to }));
    before += part.text.length;
  }
  return annotations.length === 0 ? undefined : annotations;
}

/** A call with the name and the kind that its tool has at the caller. */
function asCallerKnows({ function: called, ...call }: ChatCall, names: ToolNames): object {
  const tool = names.get(called.name);
  if (tool === undefined) return { ...call, function: called };
  if (!tool.isCustom) return { ...call, function: { ...called, name: tool.name } };
  return { ...call, type: 'custom', custom: { name: tool.name, input: customInput(called.arguments) } };
}

const functionCallOf = ({ function: called }: ChatCall, names: ToolNames): object => ({
  ...called,
  name: names.get(called.name)?.name ?? called.name,
});

export function writeChatAnswer(
  whole: WholeAnswer,
  identity: AnswerIdentity,
  { showReasoning, names }: Pick<ShownChat, 'showReasoning' | 'names'>,
): WrittenAnswer {
  const { parts } = whole;
  const called = chatCallsOf(placeSignaturesIn(parts), () => true) ?? [];
  const legacyCall = called.find((call) => names.get(call.function.name)?.isLegacy);
  const others = called.filter((call) => call !== legacyCall).map((call) => asCallerKnows(call, names));
  const calls = others.length === 0 ? undefined : others;
  const reasoningParts = showReasoning
    ? parts
        .filter((part) => part.type === 'reasoning')
        .filter(({ callSignature }) => callSignature === undefined)
    : [];
  const reasoning = reasoningParts.map(({ text }) => text).join('');
  const message = {
    role: 'assistant',
    content: whole.text === '' && (called.length > 0 || whole.refusal !== null) ? null : whole.text,
    refusal: whole.refusal,
    annotations: annotationsOf(whole),
    reasoning: reasoning === '' ? undefined : reasoning,
    reasoning_details:
      reasoningParts.length === 0
        ? undefined
        : reasoningParts.map(({ text, signature, encrypted, issuer }, index) =>
            encrypted === null
              ? {
                  type: 'reasoning.text',
                  text,
                  signature,
                  ...(signature === null ? {} : issuerText(issuer)),
                  index,
                }
              : { type: 'reasoning.encrypted', data: encrypted, ...issuerText(issuer), index },
          ),
    tool_calls: calls,
    function_call: legacyCall === undefined ? undefined : functionCallOf(legacyCall, names),
  };
  const finishReason = reasonOf(whole.finishReason, legacyCall !== undefined);
  const value = {
    id: whole.id || identity.id,
    object: 'chat.completion',
    created: identity.createdAtS,
    model: identity.model,
    // Some clients refuse an answer without it.
    system_fingerprint: null,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
  };
  return { value, bytes: Buffer.from(JSON.stringify(value)) };
}
