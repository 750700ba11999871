import { isRecord } from '#core/is-record.ts';
import { MESSAGE_BLOCKS_MAX } from '#core/limits.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { parseTexts } from '../json/parse-record.ts';
import type { EventTextCount } from '../price/stream-text-count.ts';
import { noTokens } from '../price/usage.ts';
import { FrameCheck } from '../scrub/scrub-answer.ts';
import type { Hidden } from '../scrub/scrub-words.ts';
import { madeCallId } from './call-numbers.ts';
import { blockOfKind, EMPTY_MESSAGE, emptyMembers, hasPieces, MessageBlocks } from './message-blocks.ts';
import { namedEvent, objectIn, presentMember, typedEvent, typeOf } from './stream-text.ts';
import { messagesCounters, NULL_USAGE_MEMBERS } from './usage-text.ts';

/** How many blocks had begun when an event like this one was found to be as documented. */
export type BlockNote = number;

interface ShownBlock {
  /** Its place in the message as the caller gets it. */
  number: number;
  type: string;
}

interface OwnNames {
  /** The id of a message that its server gives none. */
  ownId: string;
  publicModel: string;
  /** The words that no caller may read; `undefined`: there are none. */
  hidden: Hidden | undefined;
}

/**
 * Writes the events of a message in the way that the format documents, where a server writes them otherwise: clients put each block
 * behind the last one and find it by the number in its pieces, so a number that is skipped or used twice loses what comes under it. An
 * event that is as documented passes byte for byte, and the count of the text parses what differs from earlier events in more than its
 * text, so nothing is parsed for the check alone.
 */
export class MessageRepair {
  readonly #names: OwnNames;
  readonly #text: EventTextCount<BlockNote>;
  readonly #frameCheck: FrameCheck | null;
  readonly #blocks = new MessageBlocks<ShownBlock>();
  readonly #open = new Set<ShownBlock>();
  #count = 0;
  #callCount = 0;
  #answerId = '';
  #isStarted = false;
  /** Why the message ends, from the last event that says it. */
  #ended: JsonObject | null = null;

  constructor(names: OwnNames, text: EventTextCount<BlockNote>) {
    this.#names = names;
    this.#text = text;
    this.#frameCheck = names.hidden === undefined ? null : new FrameCheck(names.hidden, false);
  }

  /** Whether a piece of a block is as documented. It may pass unread then. */
  passes(data: Buffer): boolean {
    const seen = this.#text.see(data);
    if (seen.note === this.#count) return true;
    const event = seen.value ?? parseTexts(data);
    if (event === null) return true;
    if (this.#frameCheck?.mayPass(event) === false || event.message !== undefined) return false;
    if (event.type !== 'content_block_delta') return true;
    const { index, delta } = event;
    const block = typeof index === 'number' ? this.#blocks.get(index) : undefined;
    if (block === undefined || block.number !== index) return false;
    if (!isRecord(delta) || !hasPieces(block.type, delta.type)) return false;
    this.#text.note(seen, this.#count);
    return true;
  }

  /** Adds what clients read of a message at its beginning and its server left out. False: a message has begun before. */
  start(message: JsonObject, changes: MemberChanges): boolean {
    if (this.#isStarted) return false;
    this.#isStarted = true;
    const { ownId, publicModel } = this.#names;
    this.#answerId = /^"(.+)"$/s.exec(memberText(message, 'id') ?? '')?.[1] ?? ownId;
    const own = { id: ownId, model: publicModel, ...EMPTY_MESSAGE, usage: NOTHING_USED };
    for (const [name, value] of Object.entries(own)) {
      const known = changes.get(name) ?? memberBytes(message, name) ?? null;
      const isMissing = known === null || (value !== null && known.toString() === 'null');
      if (isMissing) changes.set(name, JSON.stringify(value));
    }
    // Clients put the blocks that follow behind those that stand here.
    if (!NO_BLOCKS.test(memberText(message, 'content') ?? '')) changes.set('content', '[]');
    return true;
  }

  /** The events in the place of one inside the answer; `null`: it is as documented. */
  repaired(type: string, event: JsonObject): Buffer | null {
    switch (type) {
      case 'content_block_start':
        return this.#begin(event);
      case 'content_block_delta':
        return this.#piece(event);
      case 'content_block_stop':
        return this.#end(event);
      default:
        return null;
    }
  }

  /** Some servers count in an event of its own, without the reason for the end, and clients forget the one that came before. */
  delta(event: JsonObject): JsonObject {
    const own = objectIn(event, 'delta');
    if (own !== null && presentMember(own, 'stop_reason') !== null) {
      this.#ended = own;
      return event;
    }
    const known = this.#ended;
    if (own !== null && known === null) return event;
    const delta = own === null || known === null ? (known?.bytes ?? NOT_ENDED) : withMembersOf(known, own);
    const rebuilt = rebuildJsonObject(event, new MemberChanges([['delta', delta]]));
    const scanned = scanJsonObject(rebuilt, answerBounds);
    return typeof scanned === 'string' ? event : scanned;
  }

  /** The ends of blocks that their server has not ended. */
  rest(): Buffer {
    return this.#open.size === 0 ? NOTHING : Buffer.concat([...this.#open].map(endOf));
  }

  #begin(event: JsonObject): Buffer | null {
    const value = objectIn(event, 'content_block');
    // The pieces of such a block begin one.
    if (value === null) return NOTHING;
    const type = typeOf(value);
    const missing = new MemberChanges();
    for (const [name, empty] of Object.entries(emptyMembers(type)))
      if (presentMember(value, name) === null) missing.set(name, JSON.stringify(empty));
    const index = indexIn(event);
    const { ended, number } = this.#beginBlock(index, type);
    if (ended.length === 0 && missing.keys.length === 0 && hasNumber(event, number)) return null;
    const changes = new MemberChanges([['index', String(number)]]);
    if (missing.keys.length > 0) changes.set('content_block', rebuildJsonObject(value, missing));
    return Buffer.concat([ended, namedEvent('content_block_start', rebuildJsonObject(event, changes))]);
  }

  #piece(event: JsonObject): Buffer | null {
    const delta = objectIn(event, 'delta');
    if (delta === null) return NOTHING;
    const index = indexIn(event);
    const known = this.#blocks.blockOf(index, typeOf(delta));
    if (known === undefined || (typeof known === 'object' && hasNumber(event, known.number))) return null;
    if (typeof known === 'object') return withNumber('content_block_delta', event, known.number);
    const content_block = blockOfKind(known, madeCallId(this.#answerId, this.#callCount));
    const { ended, number } = this.#beginBlock(index, known);
    return Buffer.concat([
      ended,
      typedEvent('content_block_start', { index: number, content_block }),
      withNumber('content_block_delta', event, number),
    ]);
  }

  #end(event: JsonObject): Buffer | null {
    const block = this.#blocks.get(indexIn(event));
    if (block === undefined || !this.#open.delete(block)) return NOTHING;
    return hasNumber(event, block.number) ? null : withNumber('content_block_stop', event, block.number);
  }

  /** A number that is used again means another block from here on, so the earlier one can get no end from its server. */
  #beginBlock(index: number, type: string): { number: number; ended: Buffer } {
    const earlier = this.#blocks.get(index);
    const ended = earlier !== undefined && this.#open.delete(earlier) ? endOf(earlier) : NOTHING;
    const block = { number: this.#count++, type };
    if (type === 'tool_use') this.#callCount++;
    this.#blocks.begin(index, block);
    if (this.#open.size < MESSAGE_BLOCKS_MAX) this.#open.add(block);
    return { number: block.number, ended };
  }
}

const NOTHING = Buffer.alloc(0);
const NOTHING_USED = { ...NULL_USAGE_MEMBERS, ...messagesCounters(noTokens) };
const NOT_ENDED = '{"stop_reason":null,"stop_sequence":null}';

const endOf = ({ number }: ShownBlock): Buffer => typedEvent('content_block_stop', { index: number });

const withNumber = (type: string, event: JsonObject, number: number): Buffer =>
  namedEvent(type, rebuildJsonObject(event, new MemberChanges([['index', String(number)]])));

/** The later delta, with the members that the earlier one alone has. */
function withMembersOf(earlier: JsonObject, later: JsonObject): Buffer {
  const changes = new MemberChanges();
  for (const { key } of earlier.members)
    if (/^\w+$/.test(key) && presentMember(later, key) === null)
      changes.set(key, memberBytes(earlier, key) ?? null);
  return rebuildJsonObject(later, changes);
}

const hasNumber = (event: JsonObject, number: number): boolean =>
  memberText(event, 'index') === String(number);

/** The number of a block, which some servers write as a text; -1: the server numbers no blocks. */
function indexIn(event: JsonObject): number {
  const digits = /^"?(\d{1,15})"?$/.exec(memberText(event, 'index') ?? '')?.[1];
  return digits === undefined ? UNNUMBERED : Number(digits);
}

const UNNUMBERED = -1;
const NO_BLOCKS = /^\[\s*\]$/;
