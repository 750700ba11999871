import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { AssistantPart, Citation, TextPart } from '#core/conversation/conversation.ts';
import type { AnswerIdentity, StreamEndView } from '../formats/call-format.ts';
import { namedText } from '../formats/stream-text.ts';
import { responsesUsageText } from '../formats/usage-text.ts';
import { type AnswerSink, pieceBytes, type WrittenAnswer } from './answer-sink.ts';
import { signReasoning } from './signed-reasoning.ts';
import { WholeAnswer } from './whole-answer.ts';

/**
 * Named events of the responses format, with the whole scaffold: the format's clients rely on every item and part being
 * added before its first piece and done after its last.
 */
export class ResponsesSink implements AnswerSink {
  readonly #identity: AnswerIdentity;
  readonly #whole = new WholeAnswer();
  #sequenceNumber = 0;
  #keptBytes = 0;
  /** Of `#whole.parts`, those that have begun. */
  #begun = 0;
  readonly #done = new Set<number>();
  readonly #calls = new Map<number, number>();

  constructor(identity: AnswerIdentity) {
    this.#identity = identity;
  }

  /** All: the last event repeats it. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  write(piece: AnswerPiece): Buffer {
    this.#keptBytes += pieceBytes(piece);
    this.#whole.add(piece);
    const begun = this.#begin();
    switch (piece.type) {
      case 'start': {
        const response = this.#response('in_progress', 'null');
        return Buffer.concat([
          this.#rawEvent('response.created', `"response":${response}`),
          this.#rawEvent('response.in_progress', `"response":${response}`),
        ]);
      }
      case 'text':
        return Buffer.concat([
          begun,
          this.#event('response.output_text.delta', { ...this.#part(), delta: piece.text, logprobs: [] }),
        ]);
      case 'citation': {
        const last = this.#whole.parts.at(-1);
        if (last?.type !== 'text' || last.citations === undefined) return begun;
        const annotation_index = last.citations.length - 1;
        // The one alone: to write all those before it anew for each takes seconds where there are thousands.
        const [annotation] = last.citations.slice(-1).map(annotationOf);
        return Buffer.concat([
          begun,
          this.#event('response.output_text.annotation.added', {
            ...this.#part(),
            annotation_index,
            annotation,
          }),
        ]);
      }
      case 'reasoning':
        return Buffer.concat([
          begun,
          this.#event('response.reasoning_summary_text.delta', { ...this.#summary(), delta: piece.text }),
        ]);
      case 'tool_call':
        this.#calls.set(piece.index, this.#begun - 1);
        return begun;
      case 'arguments': {
        const index = this.#calls.get(piece.index);
        if (index === undefined) return begun;
        const at = { item_id: this.#itemId(index), output_index: index };
        return this.#event('response.function_call_arguments.delta', { ...at, delta: piece.json });
      }
      case 'signature':
      case 'encrypted':
      case 'finish':
        return begun;
    }
  }

  end({ shown, tokens }: StreamEndView): Buffer {
    const open = this.#whole.parts.flatMap((_, index) =>
      this.#done.has(index) ? [] : [this.#finish(index)],
    );
    const status = statusOf(this.#whole);
    const response = this.#response(status, responsesUsageText(tokens, shown));
    return Buffer.concat([...open, this.#rawEvent(`response.${status}`, `"response":${response}`)]);
  }

  /** What a piece has begun is added; what came before it is done, but for calls, which may come side by side. */
  #begin(): Buffer {
    const { parts } = this.#whole;
    if (parts.length === this.#begun) return NOTHING;
    const events: Buffer[] = [];
    const before = this.#begun - 1;
    const last = parts[before];
    if (last !== undefined && last.type !== 'tool_call') events.push(this.#finish(before));
    const index = this.#begun++;
    const part = parts[index];
    if (part === undefined) return NOTHING;
    const item = itemOf(part, this.#itemId(index), 'in_progress');
    events.push(this.#event('response.output_item.added', { output_index: index, item }));
    if (part.type === 'text') {
      const added = { type: 'output_text', text: '', annotations: [] };
      events.push(this.#event('response.content_part.added', { ...this.#part(), part: added }));
    }
    if (part.type === 'reasoning' && part.text !== '') {
      const added = { type: 'summary_text', text: '' };
      events.push(this.#event('response.reasoning_summary_part.added', { ...this.#summary(), part: added }));
    }
    return Buffer.concat(events);
  }

  #finish(index: number): Buffer {
    this.#done.add(index);
    const part = this.#whole.parts[index];
    if (part === undefined) return NOTHING;
    const id = this.#itemId(index);
    const at = { item_id: id, output_index: index };
    const events: Buffer[] = [];
    switch (part.type) {
      case 'text': {
        const { text } = part;
        const done = { type: 'output_text', text, annotations: annotationsOf(part) };
        events.push(
          this.#event('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] }),
          this.#event('response.content_part.done', { ...at, content_index: 0, part: done }),
        );
        break;
      }
      case 'reasoning': {
        const { text } = part;
        if (text === '') break;
        const done = { type: 'summary_text', text };
        events.push(
          this.#event('response.reasoning_summary_text.done', { ...at, summary_index: 0, text }),
          this.#event('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: done }),
        );
        break;
      }
      case 'tool_call': {
        const { name, argumentsJson } = part;
        events.push(
          this.#event('response.function_call_arguments.done', { ...at, name, arguments: argumentsJson }),
        );
      }
    }
    const item = itemOf(part, id, 'completed');
    events.push(this.#event('response.output_item.done', { output_index: index, item }));
    return Buffer.concat(events);
  }

  #part(): object {
    const index = this.#begun - 1;
    return { item_id: this.#itemId(index), output_index: index, content_index: 0 };
  }

  #summary(): object {
    const index = this.#begun - 1;
    return { item_id: this.#itemId(index), output_index: index, summary_index: 0 };
  }

  #itemId(index: number): string {
    return itemId(this.#whole, index);
  }

  #response(status: string, usage: string): string {
    const response = JSON.stringify(responseOf(this.#whole, this.#identity, status));
    return `${response.slice(0, -1)},"usage":${usage}}`;
  }

  #event(type: string, members: object): Buffer {
    return this.#rawEvent(type, JSON.stringify(members).slice(1, -1));
  }

  #rawEvent(type: string, members: string): Buffer {
    const text = `{"type":"${type}","sequence_number":${this.#sequenceNumber++},${members}}`;
    return namedText(type, text);
  }
}

const NOTHING = Buffer.alloc(0);

const PREFIXES = { text: 'msg', reasoning: 'rs', tool_call: 'fc' } as const;

/** The same in all events of an answer. */
function itemId({ id, parts }: WholeAnswer, index: number): string {
  const part = parts[index];
  return `${part === undefined ? 'item' : PREFIXES[part.type]}_${id.replaceAll(/\W/g, '')}_${index}`;
}

function itemOf(part: AssistantPart, id: string, status: 'in_progress' | 'completed'): object {
  const isDone = status === 'completed';
  switch (part.type) {
    case 'text': {
      const content = isDone
        ? [{ type: 'output_text', text: part.text, annotations: annotationsOf(part) }]
        : [];
      return { id, type: 'message', role: 'assistant', status, content };
    }
    case 'reasoning': {
      const summary = isDone && part.text !== '' ? [{ type: 'summary_text', text: part.text }] : [];
      const kept = isDone ? signReasoning(part) : null;
      return { id, type: 'reasoning', summary, ...(kept === null ? {} : { encrypted_content: kept }) };
    }
    case 'tool_call': {
      const { id: callId, name, argumentsJson } = part;
      return {
        id,
        type: 'function_call',
        call_id: callId,
        name,
        arguments: isDone ? argumentsJson : '',
        status,
      };
    }
  }
}

const annotationsOf = ({ citations = [] }: TextPart): object[] => citations.map(annotationOf);

const annotationOf = ({ url, title, at }: Citation): object => ({
  type: 'url_citation',
  url,
  title,
  start_index: at,
  end_index: at,
});

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

const statusOf = ({ finishReason }: WholeAnswer): 'completed' | 'incomplete' =>
  finishReason in INCOMPLETE ? 'incomplete' : 'completed';

function responseOf(whole: WholeAnswer, identity: AnswerIdentity, status: string): Record<string, unknown> {
  const reason = status === 'incomplete' ? INCOMPLETE[whole.finishReason] : undefined;
  const isRunning = status === 'in_progress';
  return {
    id: whole.id || identity.id,
    object: 'response',
    created_at: identity.createdAtS,
    // Some clients refuse an answer without every member that the format has, whatever stands in it.
    completed_at: null,
    status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: identity.model,
    output: isRunning
      ? []
      : whole.parts.map((part, index) => itemOf(part, itemId(whole, index), 'completed')),
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    temperature: null,
    top_p: null,
    frequency_penalty: null,
    presence_penalty: null,
  };
}

export function writeResponsesAnswer(whole: WholeAnswer, identity: AnswerIdentity): WrittenAnswer {
  const value = responseOf(whole, identity, statusOf(whole));
  return { value, bytes: Buffer.from(JSON.stringify(value)) };
}
