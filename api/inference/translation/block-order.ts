import { isRecord } from '#core/is-record.ts';

type Event = Readonly<Record<string, unknown>>;

/**
 * The events of a message's blocks in the order in which they are read: other formats have one text, and clients join its pieces as they
 * come, so the pieces of a block wait until the text or the reasoning before it has ended. Some servers never end a block. They do not go
 * back to an earlier one either, so a block that gets nothing while others get much has ended.
 */
export class BlockOrder {
  /** The block of text or reasoning whose pieces are read as they come; `null`: none is open. */
  #current: number | null = null;
  /** Later blocks by their numbers, in the order in which they began. */
  readonly #waiting = new Map<number, WaitingBlock>();
  #waitingEvents = 0;
  #waitingBytes = 0;

  /**
   * Returns the events that are read now.
   *
   * @param bytes Approximate memory of the event.
   */
  add(event: Event, index: number, bytes: number): readonly Event[] {
    switch (event.type) {
      case 'content_block_start':
        return this.#begin(event, index, bytes);
      case 'content_block_delta':
        return this.#piece(event, index, bytes);
      case 'content_block_stop':
        return this.#end(event, index, bytes);
      default:
        return [event];
    }
  }

  /** The events that wait, now that no block goes on. */
  rest(): Event[] {
    const events = [...this.#waiting.values()].flatMap((block) => block.events);
    this.#current = null;
    this.#clear();
    return events;
  }

  #begin(event: Event, index: number, bytes: number): readonly Event[] {
    const before = index === this.#current || this.#waiting.has(index) ? this.rest() : [];
    if (this.#current === null) {
      if (isSaidAlone(event)) this.#current = index;
      return [...before, event];
    }
    this.#waiting.set(index, { isAlone: isSaidAlone(event), isEnded: false, events: [] });
    return this.#wait(event, index, bytes);
  }

  #piece(event: Event, index: number, bytes: number): readonly Event[] {
    if (index === this.#current) {
      this.#waitingEvents = 0;
      return [event];
    }
    if (this.#waiting.has(index)) return this.#wait(event, index, bytes);
    // A block of which the beginning was left out begins with its first piece; a signature may come behind the end of its block.
    if (!PIECES_ALONE.has(typeIn(event.delta))) return [event];
    if (this.#current !== null) {
      this.#waiting.set(index, { isAlone: true, isEnded: false, events: [] });
      return this.#wait(event, index, bytes);
    }
    this.#current = index;
    return [event];
  }

  #end(event: Event, index: number, bytes: number): readonly Event[] {
    if (index === this.#current) return [event, ...this.#next(false)];
    const block = this.#waiting.get(index);
    if (block === undefined) return [event];
    block.isEnded = true;
    return this.#wait(event, index, bytes);
  }

  #wait(event: Event, index: number, bytes: number): readonly Event[] {
    this.#waiting.get(index)?.events.push(event);
    this.#waitingEvents++;
    this.#waitingBytes += bytes;
    return this.#waitingEvents > WAITING_EVENTS_MAX || this.#waitingBytes > WAITING_BYTES_MAX
      ? this.#next(true)
      : [];
  }

  /**
   * The events of the blocks behind the current one, up to the next that is said alone and goes on.
   *
   * @param endsAll All blocks but the newest count as ended.
   */
  #next(endsAll: boolean): readonly Event[] {
    const events: Event[] = [];
    this.#current = null;
    for (const [index, block] of this.#waiting) {
      events.push(...block.events);
      this.#waiting.delete(index);
      if (!block.isAlone || block.isEnded) continue;
      this.#current = index;
      if (!endsAll) break;
    }
    this.#waitingEvents = 0;
    if (this.#waiting.size === 0) this.#waitingBytes = 0;
    return events;
  }

  #clear(): void {
    this.#waiting.clear();
    this.#waitingEvents = 0;
    this.#waitingBytes = 0;
  }
}

interface WaitingBlock {
  isAlone: boolean;
  isEnded: boolean;
  events: Event[];
}

/** Events of later blocks that come while the current one gets nothing. A server that takes turns goes back sooner. */
const WAITING_EVENTS_MAX = 32;
const WAITING_BYTES_MAX = 262_144;

/** The pieces of calls name their call, so calls may take turns. */
const isSaidAlone = ({ content_block: block }: Event): boolean => SAID_ALONE.has(typeIn(block));
const typeIn = (value: unknown): unknown => (isRecord(value) ? value.type : undefined);
const PIECES_ALONE: ReadonlySet<unknown> = new Set(['text_delta', 'thinking_delta']);
const SAID_ALONE: ReadonlySet<unknown> = new Set(['text', 'thinking']);
