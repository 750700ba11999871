import { isRecord } from '#core/is-record.ts';
import { MESSAGE_BLOCKS_MAX } from '#core/limits.ts';
import { parseExact } from '../json/exact-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { parseTexts } from '../json/parse-record.ts';
import { CallArguments, newComparedText } from '../price/call-arguments.ts';
import type { EventTextCount } from '../price/stream-text-count.ts';
import { noTokens } from '../price/usage.ts';
import { mayTellHidden } from '../scrub/hidden-forms.ts';
import { FrameCheck } from '../scrub/scrub-answer.ts';
import type { Hidden } from '../scrub/scrub-words.ts';
import { CallIds } from './call-ids.ts';
import { blockOfKind, EMPTY_MESSAGE, emptyMembers, hasPieces, MessageBlocks } from './message-blocks.ts';
import { namedEvent, objectIn, presentMember, setMissing, typedEvent, typeOf } from './stream-text.ts';
import { messagesCounters, NULL_USAGE_MEMBERS } from './usage-text.ts';
import { textOf } from './values.ts';
import { readableInput } from './whole-blocks.ts';

/** How many blocks had begun when an event like this one was found to be as documented. */
export type BlockNote = number;

interface ShownBlock {
  /** Its place in the message as the caller gets it. */
  number: number;
  type: string;
  /** The JSON text of a tool's input so far, of which some servers repeat all in each piece. */
  input: CallArguments;
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
  readonly #ids: CallIds;
  #answerId = '';
  #isStarted = false;
  readonly #compared = newComparedText();
  /** The message as it began, where that says why it ends. */
  #begun: JsonObject | null = null;
  /** Why the message ends, from the last event that says it. */
  #ended: JsonObject | null = null;

  constructor(names: OwnNames, text: EventTextCount<BlockNote>) {
    this.#names = names;
    this.#text = text;
    this.#ids = new CallIds(names.hidden?.provider);
    this.#frameCheck = names.hidden === undefined ? null : new FrameCheck(names.hidden, false);
  }

  /** Whether a piece differs in its text alone from one that passed in the newest block. */
  isKnown(data: Buffer): boolean {
    return this.#text.see(data).note === this.#count;
  }

  /** Whether a piece of a block is as documented. It may pass unread then. */
  passes(data: Buffer): boolean {
    const seen = this.#text.see(data);
    const event = seen.value ?? parseTexts(data);
    if (event === null) return true;
    const { hidden } = this.#names;
    if (hidden !== undefined && mayTellHidden(data, hidden)) return false;
    if (this.#frameCheck?.mayPass(event) === false || event.message !== undefined) return false;
    if (event.type !== 'content_block_delta') return true;
    const { index, delta } = event;
    const block = typeof index === 'number' ? this.#blocks.get(index) : undefined;
    if (block === undefined || block.number !== index) return false;
    if (!isRecord(delta) || !hasPieces(block.type, delta.type)) return false;
    if (isRecord(delta.partial_json)) return false;
    const json = textOf(delta.partial_json);
    if (!block.input.passes(json)) return false;
    block.input.pass(json);
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
    if (END_MEMBERS.some((name) => presentMember(message, name) !== null)) this.#begun = message;
    return true;
  }

  /** The event that begins the message, where its server has left it out: clients drop all that comes before it. Empty: the message has begun. */
  beginMessage(): Buffer {
    if (this.#isStarted) return NOTHING;
    this.#isStarted = true;
    const { ownId, publicModel } = this.#names;
    this.#answerId = ownId;
    const message = { id: ownId, model: publicModel, ...EMPTY_MESSAGE, ...NULL_MEMBERS, usage: NOTHING_USED };
    return typedEvent('message_start', { message });
  }

  /** The events in the place of one inside the answer; `null`: it is as documented. */
  repaired(type: string, event: JsonObject): Buffer | null {
    if (!BLOCK_EVENT.test(type)) return null;
    const begun = this.beginMessage();
    const events = this.#repairedInBlock(type, event);
    return begun.length === 0 ? events : Buffer.concat([begun, events ?? namedEvent(type, event.bytes)]);
  }

  #repairedInBlock(type: string, event: JsonObject): Buffer | null {
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

  /**
   * The last event of the message as clients read it, who forget what earlier ones say of the end: some servers count in an event of its
   * own, without the reason, and some say in the first event why the message ends.
   */
  delta(event: JsonObject): JsonObject {
    return this.#withBegun(this.#withEnded(event));
  }

  #withBegun(event: JsonObject): JsonObject {
    const delta = this.#begun === null ? null : objectIn(event, 'delta');
    const changes = new MemberChanges();
    for (const name of END_MEMBERS) {
      const value = this.#begun === null ? null : presentMember(this.#begun, name);
      if (delta !== null && value !== null && presentMember(delta, name) === null) changes.set(name, value);
    }
    return delta === null || changes.keys.length === 0
      ? event
      : withDelta(event, rebuildJsonObject(delta, changes));
  }

  #withEnded(event: JsonObject): JsonObject {
    const own = objectIn(event, 'delta');
    if (own !== null && presentMember(own, 'stop_reason') !== null) {
      this.#ended = own;
      return event;
    }
    const known = this.#ended;
    if (own !== null && known === null) return event;
    const delta = own === null || known === null ? (known?.bytes ?? NOT_ENDED) : withMembersOf(known, own);
    return withDelta(event, delta);
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
    const missing = this.#missingIn(value, type);
    const index = indexIn(event);
    const { ended, block } = this.#beginBlock(index, type);
    const { number } = block;
    if (ended.length === 0 && missing.keys.length === 0 && hasNumber(event, number)) return null;
    const changes = new MemberChanges([['index', String(number)]]);
    if (missing.keys.length > 0) changes.set('content_block', rebuildJsonObject(value, missing));
    return Buffer.concat([ended, namedEvent('content_block_start', rebuildJsonObject(event, changes))]);
  }

  /** The members that clients read of a block that begins, where its server left them out or wrote something else. */
  #missingIn(block: JsonObject, type: string): MemberChanges {
    const missing = new MemberChanges();
    setMissing(block, emptyMembers(type), missing);
    if (type !== 'tool_use') return missing;
    const sent = parseExact(memberText(block, 'id') ?? 'null');
    const id = this.#ids.idOf(textOf(sent), this.#answerId, this.#callCount);
    if (id !== sent) missing.set('id', JSON.stringify(id));
    const input = memberText(block, 'input') ?? '{}';
    if (!input.startsWith('{')) {
      const marks = new NumberMarks();
      missing.set('input', marks.print(readableInput(parseExact(input), marks)));
    }
    return missing;
  }

  #piece(event: JsonObject): Buffer | null {
    const delta = objectIn(event, 'delta');
    if (delta === null) return NOTHING;
    const index = indexIn(event);
    const known = this.#blocks.blockOf(index, typeOf(delta));
    if (known === undefined) return null;
    if (typeof known === 'object') return repairedPiece(event, delta, known);
    const id = known === 'tool_use' ? this.#ids.idOf('', this.#answerId, this.#callCount) : '';
    const content_block = blockOfKind(known, id);
    const { ended, block } = this.#beginBlock(index, known);
    const { number } = block;
    return Buffer.concat([
      ended,
      typedEvent('content_block_start', { index: number, content_block }),
      repairedPiece(event, delta, block) ?? namedEvent('content_block_delta', event.bytes),
    ]);
  }

  #end(event: JsonObject): Buffer | null {
    const block = this.#blocks.get(indexIn(event));
    if (block === undefined || !this.#open.delete(block)) return NOTHING;
    const rest = restOf(block);
    if (rest.length === 0 && hasNumber(event, block.number)) return null;
    return Buffer.concat([rest, withNumber('content_block_stop', event, block.number)]);
  }

  /** A number that is used again means another block from here on, so the earlier one can get no end from its server. */
  #beginBlock(index: number, type: string): { block: ShownBlock; ended: Buffer } {
    const earlier = this.#blocks.get(index);
    const ended = earlier !== undefined && this.#open.delete(earlier) ? endOf(earlier) : NOTHING;
    const block = { number: this.#count++, type, input: new CallArguments(this.#compared) };
    if (type === 'tool_use') this.#callCount++;
    this.#blocks.begin(index, block);
    if (this.#open.size < MESSAGE_BLOCKS_MAX) this.#open.add(block);
    return { block, ended };
  }
}

const NOTHING = Buffer.alloc(0);
const NOTHING_USED = { ...NULL_USAGE_MEMBERS, ...messagesCounters(noTokens) };
const NOT_ENDED = '{"stop_reason":null,"stop_sequence":null}';

/** Members of a message that tell why it ends. */
const END_MEMBERS = ['stop_reason', 'stop_sequence', 'stop_details'];
/** Members that every message has, and that typed clients rely on. */
const NULL_MEMBERS = { container: null, stop_details: null };
const BLOCK_EVENT = /^content_block_/;

const endOf = (block: ShownBlock): Buffer =>
  Buffer.concat([restOf(block), typedEvent('content_block_stop', { index: block.number })]);

/** The part of an input that waits for the next piece, now that none comes. */
function restOf({ number, input }: ShownBlock): Buffer {
  const json = input.end();
  return json === ''
    ? NOTHING
    : typedEvent('content_block_delta', {
        index: number,
        delta: { type: 'input_json_delta', partial_json: json },
      });
}

/** A piece under the number of its block, with the part of the input that is new; `null`: it is as documented. */
function repairedPiece(event: JsonObject, delta: JsonObject, { number, input }: ShownBlock): Buffer | null {
  const sent = parseTexts(delta.bytes)?.partial_json;
  // Some servers write the object itself in the place of its text.
  const piece = isRecord(sent) ? memberText(delta, 'partial_json') : sent;
  const json = typeof piece === 'string' ? input.add(piece, false) : sent;
  if (json === sent)
    return hasNumber(event, number) ? null : withNumber('content_block_delta', event, number);
  if (json === '') return NOTHING;
  const shown = rebuildJsonObject(delta, new MemberChanges([['partial_json', JSON.stringify(json)]]));
  return withNumber('content_block_delta', withDelta(event, shown), number);
}

function withDelta(event: JsonObject, delta: Buffer | string): JsonObject {
  const scanned = scanJsonObject(
    rebuildJsonObject(event, new MemberChanges([['delta', delta]])),
    answerBounds,
  );
  return typeof scanned === 'string' ? event : scanned;
}

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
