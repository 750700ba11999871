import type { TokenCounts } from '#core/events/ledger-event.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import { chatCounts, readUsage, type SentUsage, type Usage } from '../usage.ts';
import type { AnswerIdentity, ReadEvent, StreamEndView, StreamNames, StreamReader } from './call-format.ts';
import { isErrorEvent, isLastChunk, usageIn } from './chat-answer.ts';
import { shownUsage } from './shown-changes.ts';
import { CHOICES_NEEDLE, dataEvent, isDone, isJson, isPlainChunk, looksLikeObject } from './stream-text.ts';

/** A stream of chunks. Its usage comes last, in a chunk of its own, or is not shown at all. */
export class ChatStream implements StreamReader {
  readonly unreadLineEnd: Buffer | null;
  readonly answerNeedle = CHOICES_NEEDLE;
  readonly namesEvents = false;
  readonly textBytes = null;
  readonly #names: StreamNames;
  readonly #renamed: boolean;
  readonly #vendorFields: readonly string[];
  #usageChunk: JsonObject | null = null;
  /** Nothing of the answer is missing after it. */
  #complete = false;
  #sent: SentUsage | null = null;

  constructor(names: StreamNames) {
    this.#names = names;
    this.#renamed = names.upstreamModel !== names.publicModel;
    this.#vendorFields = names.vendorFields ?? [];
    this.unreadLineEnd = this.#renamed || this.#vendorFields.length > 0 ? null : NO_LINE;
  }

  /**
   * Reads an event only where a needle says that it may carry usage or an error, or has no choices; everything else is told apart by its
   * first and last byte. A quoted word inside the answer's text has its quote escaped and is no needle.
   */
  read(data: Buffer, eventName: string): ReadEvent {
    if (isDone(data)) return { kind: 'done' };
    if (eventName === 'error') return { kind: 'error' };
    if (!looksLikeObject(data)) return { kind: isErrorEvent(data, null) ? 'error' : 'malformed' };
    if (isPlainChunk(data)) return this.#pass(data);

    const object = scanJsonObject(data, answerBounds);
    if (typeof object === 'string') return { kind: 'malformed' };
    const usage = usageIn(object);
    const isError = isErrorEvent(data, object);
    if (usage === null) return isError ? { kind: 'error' } : this.#pass(data);
    // Rare, and rewritten by us: unlike the plain ones it is checked whole.
    if (!isError && !isJson(data)) return { kind: 'malformed' };
    this.#usageChunk = object;
    this.#complete = isLastChunk(object);
    const sent = readUsage(usage, chatCounts);
    // Some servers count in every chunk, and nothing in their last.
    if (sent?.usage || this.#sent === null) this.#sent = sent;
    if (isError) return { kind: 'error' };
    const choices = memberText(object, 'choices');
    if (choices === undefined || EMPTY_LIST.test(choices)) return { kind: 'kept' };
    const shown = rebuildJsonObject(object, this.#hidden([['usage', null]]));
    return { kind: 'changed', events: dataEvent(this.#named(shown)) };
  }

  usage(): Usage | null {
    return this.#sent?.usage ?? null;
  }

  /** As it came. */
  get sentUsage(): SentUsage | null {
    return this.#sent;
  }

  isComplete(): boolean {
    return this.#complete;
  }

  end({ identity, shown, tokens }: StreamEndView): Buffer {
    if (!this.#names.showUsage || shown === null) return END_MARK;
    return Buffer.concat([dataEvent(this.#lastChunk(identity, shown, tokens)), END_MARK]);
  }

  /** The provider's own usage chunk with our cost; where it sent none, one of the counts that the charge was made of. */
  #lastChunk(identity: AnswerIdentity, shown: NanoUsd, tokens: TokenCounts): Buffer {
    if (this.#usageChunk === null) return estimatedUsageChunk(identity, tokens, shown);
    const changes = this.#hidden([
      ['choices', '[]'],
      ['usage', shownUsage(this.#sent?.object ?? null, shown)],
    ]);
    if (this.#renamed) changes.set('model', JSON.stringify(this.#names.publicModel));
    return rebuildJsonObject(this.#usageChunk, changes);
  }

  #pass(data: Buffer): ReadEvent {
    const object = this.#vendorFields.some((field) => data.indexOf(`"${field}"`) >= 0)
      ? scanJsonObject(data, answerBounds)
      : 'not_an_object';
    if (typeof object !== 'string') {
      return { kind: 'changed', events: dataEvent(this.#named(rebuildJsonObject(object, this.#hidden([])))) };
    }
    return this.#renamed ? { kind: 'changed', events: dataEvent(this.#named(data)) } : PLAIN;
  }

  /** The given changes, and without what names the vendor. */
  #hidden(changes: ConstructorParameters<typeof MemberChanges>[0]): MemberChanges {
    const all = new MemberChanges(changes);
    for (const field of this.#vendorFields) all.set(field, null);
    return all;
  }

  /** The caller's own name of the model in the place of the provider's. */
  #named(data: Buffer): Buffer {
    if (!this.#renamed) return data;
    const { upstreamModel, publicModel } = this.#names;
    for (const colon of [':', ': ']) {
      const needle = `"model"${colon}${JSON.stringify(upstreamModel)}`;
      const at = data.indexOf(needle);
      if (at < 0) continue;
      return Buffer.concat([
        data.subarray(0, at),
        Buffer.from(`"model":${JSON.stringify(publicModel)}`),
        data.subarray(at + Buffer.byteLength(needle)),
      ]);
    }
    return data;
  }
}

const NO_LINE = Buffer.alloc(0);
const PLAIN: ReadEvent = { kind: 'plain' };
const EMPTY_LIST = /^\[\s*\]$/;
const END_MARK = Buffer.from('data: [DONE]\n\n');

function estimatedUsageChunk(
  { id, createdAtS, model }: AnswerIdentity,
  tokens: TokenCounts,
  shown: NanoUsd,
): Buffer {
  const { prompt, completion } = tokens;
  const counts = `"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion}`;
  const usage = `{${counts},"cost":${formatUsd(shown)}}`;
  const frame = JSON.stringify({
    id,
    object: 'chat.completion.chunk',
    created: createdAtS,
    model,
    choices: [],
  });
  return Buffer.from(`${frame.slice(0, -1)},"usage":${usage}}`);
}
