import type { TokenCounts } from '#core/events/ledger-event.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import type { AnswerIdentity, StreamEndView } from '../formats/call-format.ts';
import { namedEvent } from '../formats/stream-text.ts';
import { inputOf } from '../formats/tool-input.ts';
import type { AnswerPiece, FinishReason } from './answer-piece.ts';
import type { AnswerSink } from './answer-sink.ts';
import type { AssistantPart } from './conversation.ts';
import type { WholeAnswer } from './whole-answer.ts';

/** Named events of the messages format. What was thought and said comes block by block; calls may come side by side. */
export class MessagesSink implements AnswerSink {
  readonly #identity: AnswerIdentity;
  #blocks = 0;
  #open: { type: 'text' | 'thinking'; index: number } | null = null;
  readonly #calls = new Map<number, number>();
  #stop: string = STOP_REASONS.stop;
  #stopSequence: string | null = null;

  constructor(identity: AnswerIdentity) {
    this.#identity = identity;
  }

  write(piece: AnswerPiece): Buffer {
    switch (piece.type) {
      case 'start':
        return this.#start(piece.id || this.#identity.id);
      case 'text':
        return this.#inBlock('text', { type: 'text', text: '' }, { type: 'text_delta', text: piece.text });
      case 'reasoning':
        return this.#inBlock('thinking', THINKING, { type: 'thinking_delta', thinking: piece.text });
      case 'signature':
        return this.#inBlock('thinking', THINKING, { type: 'signature_delta', signature: piece.signature });
      case 'encrypted': {
        const index = this.#blocks++;
        return Buffer.concat([
          this.#close(),
          event('content_block_start', {
            index,
            content_block: { type: 'redacted_thinking', data: piece.data },
          }),
          event('content_block_stop', { index }),
        ]);
      }
      case 'tool_call': {
        const { id, name } = piece;
        const closed = this.#close();
        const index = this.#blocks++;
        this.#calls.set(piece.index, index);
        const block = { type: 'tool_use', id, name, input: {} };
        return Buffer.concat([closed, event('content_block_start', { index, content_block: block })]);
      }
      case 'arguments': {
        const index = this.#calls.get(piece.index);
        const delta = { type: 'input_json_delta', partial_json: piece.json };
        return index === undefined ? NOTHING : event('content_block_delta', { index, delta });
      }
      case 'finish':
        this.#stop = piece.stopSequence === null ? STOP_REASONS[piece.reason] : 'stop_sequence';
        this.#stopSequence = piece.stopSequence;
        return NOTHING;
    }
  }

  end({ shown, tokens }: StreamEndView): Buffer {
    const delta = JSON.stringify({ stop_reason: this.#stop, stop_sequence: this.#stopSequence });
    const last = `{"type":"message_delta","delta":${delta},"usage":${messagesUsageText(tokens, shown)}}`;
    return Buffer.concat([
      this.#close(),
      ...[...this.#calls.values()].map((index) => event('content_block_stop', { index })),
      namedEvent('message_delta', Buffer.from(last)),
      event('message_stop', {}),
    ]);
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
      usage: { input_tokens: 0, output_tokens: 0 },
    };
    return event('message_start', { message });
  }

  #inBlock(type: 'text' | 'thinking', begin: object, delta: object): Buffer {
    if (this.#open?.type === type) return event('content_block_delta', { index: this.#open.index, delta });
    const closed = this.#close();
    const index = this.#blocks++;
    this.#open = { type, index };
    return Buffer.concat([
      closed,
      event('content_block_start', { index, content_block: begin }),
      event('content_block_delta', { index, delta }),
    ]);
  }

  #close(): Buffer {
    if (this.#open === null) return NOTHING;
    const { index } = this.#open;
    this.#open = null;
    return event('content_block_stop', { index });
  }
}

const NOTHING = Buffer.alloc(0);
const THINKING = { type: 'thinking', thinking: '', signature: '' };

const event = (type: string, members: object): Buffer =>
  namedEvent(type, Buffer.from(JSON.stringify({ type, ...members })));

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
} as const satisfies Record<FinishReason, string>;

export function messagesUsageText(tokens: TokenCounts, shown: NanoUsd | null): string {
  const { prompt, completion, reasoning, cached, cacheWritten = 0 } = tokens;
  const counts = JSON.stringify({
    input_tokens: prompt - cached - cacheWritten,
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: reasoning === null ? undefined : { thinking_tokens: reasoning },
  });
  return shown === null ? counts : `${counts.slice(0, -1)},"cost":${formatUsd(shown)}}`;
}

/** The whole answer as JSON text, its usage as it was counted. */
export function writeMessagesAnswer(
  whole: WholeAnswer,
  identity: AnswerIdentity,
  tokens: TokenCounts,
): string {
  const answer = JSON.stringify({
    id: whole.id || identity.id,
    type: 'message',
    role: 'assistant',
    model: identity.model,
    content: whole.parts.map(blockOf),
    stop_reason: whole.stopSequence === null ? STOP_REASONS[whole.finishReason] : 'stop_sequence',
    stop_sequence: whole.stopSequence,
  });
  return `${answer.slice(0, -1)},"usage":${messagesUsageText(tokens, null)}}`;
}

function blockOf(part: AssistantPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: inputOf(part.argumentsJson) };
    case 'reasoning':
      return part.encrypted === null
        ? { type: 'thinking', thinking: part.text, signature: part.signature ?? '' }
        : { type: 'redacted_thinking', data: part.encrypted };
  }
}
