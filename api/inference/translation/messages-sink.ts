import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { AssistantPart } from '#core/conversation/conversation.ts';
import type { AnswerIdentity, StreamEndView } from '../formats/call-format.ts';
import { markCallSignature, signatureOfCall } from '../formats/call-signature.ts';
import { messageWords } from '../formats/end-words.ts';
import { markIssuer } from '../formats/signed-reasoning.ts';
import { namedText, typedEvent } from '../formats/stream-text.ts';
import { inputOf } from '../formats/tool-input.ts';
import { messagesCounters, messagesUsageText, NULL_USAGE_MEMBERS } from '../formats/usage-text.ts';
import { JsonScan } from '../json/json-scan.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { type AnswerSink, pieceBytes, type WrittenAnswer } from './answer-sink.ts';
import { NO_TOOL_NAMES, type ToolNames } from './tool-names.ts';
import type { WholeAnswer } from './whole-answer.ts';

/** How a caller of the messages format is shown the answer to its own request. */
export interface ShownMessages {
  names: ToolNames;
}

/**
 * Named events of the messages format. Its blocks come one after another, and clients take a delta or a stop for the
 * newest block's; so what a provider sends of several calls at once waits until the call before it is whole.
 */
export class MessagesSink implements AnswerSink {
  readonly eventsWritten = null;
  readonly #identity: AnswerIdentity;
  readonly #names: ToolNames;
  /** The others wait behind it. */
  #open: Block | null = null;
  #last: Block | null = null;
  #begun = 0;
  #keptBytes = 0;
  readonly #calls = new Map<number, Block>();
  /** The blocks of reasoning that began with text. */
  readonly #reasonings: Block[] = [];
  #stop: string = messageWords.stop;
  #stopSequence: string | null = null;
  #refuses = false;

  constructor(identity: AnswerIdentity, { names }: ShownMessages = { names: NO_TOOL_NAMES }) {
    this.#identity = identity;
    this.#names = names;
  }

  /** What waits, and all that waited: of an honest answer it is little. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  write(piece: AnswerPiece): Buffer {
    if (this.#open !== this.#last || piece.type === 'tool_call') this.#keptBytes += pieceBytes(piece);
    switch (piece.type) {
      case 'start':
        return this.#start(piece.id || this.#identity.id);
      case 'text':
        return this.#inBlock(TEXT, { type: 'text_delta', text: piece.text });
      case 'refusal':
        this.#refuses = true;
        return this.#inBlock(TEXT, { type: 'text_delta', text: piece.text });
      case 'call_signature': {
        const { signature, ofCall } = piece;
        const call = ofCall === undefined ? undefined : this.#calls.get(ofCall);
        const named = call === undefined ? signature : signatureOfCall(signature, String(call.content.id));
        return this.#add(newBlock({ type: 'redacted_thinking', data: markCallSignature(named) }));
      }
      // Its address alone is no citation here: clients want what the provider signed.
      case 'citation':
        return NOTHING;
      case 'reasoning':
        if (piece.text === '') return NOTHING;
        return this.#think({ type: 'thinking_delta', thinking: piece.text });
      case 'signature':
        return this.#sign(piece);
      case 'encrypted':
        return this.#add(newBlock({ type: 'redacted_thinking', data: markIssuer(piece.data, piece.issuer) }));
      case 'tool_call': {
        const { index, id, name } = piece;
        const shown = this.#names.get(name)?.name ?? name;
        const block = newBlock({ type: 'tool_use', id, name: shown, input: {}, ...DIRECT }, new JsonScan());
        this.#calls.set(index, block);
        return this.#add(block);
      }
      case 'arguments': {
        const block = this.#calls.get(piece.index);
        if (block === undefined) return NOTHING;
        block.scan?.add(piece.json);
        return this.#delta(block, { type: 'input_json_delta', partial_json: piece.json });
      }
      case 'finish':
        this.#stop = piece.stopSequence === null ? messageWords[piece.reason] : 'stop_sequence';
        this.#stopSequence = piece.stopSequence;
        return NOTHING;
    }
  }

  end({ shown, tokens }: StreamEndView): Buffer {
    const stop = this.#refuses ? refusalOr(this.#stop) : this.#stop;
    const delta = JSON.stringify({
      container: null,
      stop_details: null,
      stop_reason: stop,
      stop_sequence: this.#stopSequence,
    });
    const last = `{"type":"message_delta","delta":${delta},"usage":${messagesUsageText(tokens, shown)}}`;
    const events: Buffer[] = [];
    for (let open = this.#open; open !== null; open = this.#open) events.push(this.#next(open));
    return Buffer.concat([...events, namedText('message_delta', last), typedEvent('message_stop', {})]);
  }

  /** What was read is known at the end alone. */
  #start(id: string): Buffer {
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model: this.#identity.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...NULL_MEMBERS,
      usage: { ...NULL_USAGE_MEMBERS, ...messagesCounters(NOTHING_COUNTED) },
    };
    return typedEvent('message_start', { message });
  }

  #inBlock(content: BlockContent, delta: object): Buffer {
    const last = this.#last;
    if (last?.content.type === content.type) return this.#delta(last, delta);
    const block = newBlock(content);
    return Buffer.concat([this.#add(block), this.#delta(block, delta)]);
  }

  /** Reasoning behind a signature is not part of what was signed. */
  #think(delta: object): Buffer {
    const last = this.#last;
    if (last?.content.type === THINKING.type && !last.isSigned) return this.#delta(last, delta);
    const block = newBlock(THINKING);
    this.#reasonings.push(block);
    return Buffer.concat([this.#add(block), this.#delta(block, delta)]);
  }

  #sign({ signature, issuer, ofReasoning }: Extract<AnswerPiece, { type: 'signature' }>): Buffer {
    const delta = { type: 'signature_delta', signature: markIssuer(signature, issuer) };
    const own = ofReasoning === undefined ? undefined : this.#reasonings[ofReasoning];
    // Clients find the block by its number, although it has ended.
    if (own?.ended === true) return typedEvent('content_block_delta', { index: own.index, delta });
    const signed = own ?? this.#last;
    if (signed?.content.type === THINKING.type && !signed.isSigned) {
      signed.isSigned = true;
      return this.#delta(signed, delta);
    }
    const block = newBlock(THINKING);
    block.isSigned = true;
    return Buffer.concat([this.#add(block), this.#delta(block, delta)]);
  }

  #add(block: Block): Buffer {
    if (this.#last !== null) this.#last.next = block;
    this.#last = block;
    if (this.#open !== null) return this.#advance();
    this.#open = block;
    return this.#begin(block);
  }

  #delta(block: Block, delta: object): Buffer {
    if (block === this.#open) {
      const shown = typedEvent('content_block_delta', { index: this.#begun - 1, delta });
      return block.next === null ? shown : Buffer.concat([shown, this.#advance()]);
    }
    // Of a block that has ended there is nothing but white space left.
    if (!block.ended) block.waiting.push(delta);
    return NOTHING;
  }

  /** Ends every block that has another behind it and is whole itself. */
  #advance(): Buffer {
    const events: Buffer[] = [];
    for (let open = this.#open; open !== null; open = this.#open) {
      if (open.next === null || open.scan?.isWhole === false) break;
      events.push(this.#next(open));
    }
    return Buffer.concat(events);
  }

  /** Ends the open block, and begins the one behind it. */
  #next(block: Block): Buffer {
    block.ended = true;
    this.#open = block.next;
    if (block.next === null) this.#last = null;
    const stop = typedEvent('content_block_stop', { index: this.#begun - 1 });
    return block.next === null ? stop : Buffer.concat([stop, this.#begin(block.next)]);
  }

  #begin(block: Block): Buffer {
    const { content, waiting } = block;
    const index = this.#begun++;
    block.index = index;
    return Buffer.concat([
      typedEvent('content_block_start', { index, content_block: content }),
      ...waiting.splice(0).map((delta) => typedEvent('content_block_delta', { index, delta })),
    ]);
  }
}

type BlockContent = { type: string } & Record<string, unknown>;

interface Block {
  /** As it begins. */
  content: BlockContent;
  /** Of a call: whether its arguments are whole. */
  scan: JsonScan | null;
  waiting: object[];
  /** Comes after it. */
  next: Block | null;
  /** Its number in the answer, once it has begun. */
  index: number;
  isSigned: boolean;
  ended: boolean;
}

const newBlock = (content: BlockContent, scan: JsonScan | null = null): Block => ({
  content,
  scan,
  waiting: [],
  next: null,
  index: 0,
  isSigned: false,
  ended: false,
});

const NOTHING = Buffer.alloc(0);
const NOTHING_COUNTED = { prompt: 0, completion: 0, reasoning: null, cached: 0 };
/** Members that every message has, and that typed clients rely on. No provider of another format tells them. */
const NULL_MEMBERS = { container: null, diagnostics: null, stop_details: null } as const;
const TEXT = { type: 'text', text: '', citations: null };
/** The model makes its calls itself; no program that it has written does. */
const DIRECT = { caller: { type: 'direct' } } as const;
const THINKING = { type: 'thinking', thinking: '', signature: '' };

/** A model that says why it does not answer has not just ended its turn. */
const refusalOr = (stop: string): string => (stop === messageWords.stop ? messageWords.content_filter : stop);

export function writeMessagesAnswer(
  whole: WholeAnswer,
  identity: AnswerIdentity,
  { names }: ShownMessages,
): WrittenAnswer {
  const marks = new NumberMarks();
  const stop = whole.stopSequence === null ? messageWords[whole.finishReason] : 'stop_sequence';
  const value = {
    id: whole.id || identity.id,
    type: 'message',
    role: 'assistant',
    model: identity.model,
    content: whole.parts.map((part) => blockOf(part, names, marks)),
    stop_reason: whole.refusal === null ? stop : refusalOr(stop),
    stop_sequence: whole.stopSequence,
    ...NULL_MEMBERS,
  };
  return { value, bytes: marks.print(value) };
}

function blockOf(part: AssistantPart, names: ToolNames, marks: NumberMarks): object {
  switch (part.type) {
    case 'text':
      return { ...TEXT, text: part.text };
    case 'tool_call':
      return {
        type: 'tool_use',
        id: part.id,
        name: names.get(part.name)?.name ?? part.name,
        input: inputOf(part.argumentsJson, marks),
        ...DIRECT,
      };
    case 'reasoning':
      if (part.callSignature !== undefined)
        return { type: 'redacted_thinking', data: markCallSignature(part.callSignature) };
      return part.encrypted === null
        ? {
            type: 'thinking',
            thinking: part.text,
            signature: markIssuer(part.signature ?? '', part.signature === null ? undefined : part.issuer),
          }
        : { type: 'redacted_thinking', data: markIssuer(part.encrypted, part.issuer) };
  }
}
