import { plainNumber } from '../json/exact-json.ts';
import { type Hidden, repeatsHidden } from '../scrub/scrub-words.ts';
import { CallIds } from './call-ids.ts';
import type { KnownItem } from './response-items.ts';
import { isCall, madeItemId } from './whole-items.ts';

type Members = Record<string, unknown>;

/** An item as the caller gets it. */
export interface ShownItem {
  index: number;
  id: string;
  /** The name of a call for its result; empty: the item is no call of the caller's. */
  callId: string;
  /** The parts that have begun, by their list and number. */
  parts: Set<string>;
  /** Events have brought something of it. */
  hasPieces: boolean;
  /** The whole item as it was shown; `null`: it has not come. */
  done: Buffer | null;
}

/** The items as the caller gets them, each under a number and an id of its own. */
export class ShownItems {
  readonly ownId: string;
  readonly #provider: Hidden['provider'] | undefined;
  readonly #items = new Map<KnownItem, ShownItem>();
  readonly #indexes = new Set<number>();
  readonly #ids = new Set<string>();
  #nextIndex = 0;
  readonly #callIds = new CallIds();
  /** Some item is shown otherwise than its server wrote it. */
  isChanged = false;

  constructor(ownId: string, provider: Hidden['provider'] | undefined) {
    this.ownId = ownId;
    this.#provider = provider;
  }

  get(item: KnownItem): ShownItem | undefined {
    return this.#items.get(item);
  }

  begin(item: KnownItem, event: Readonly<Members>, idOfServer: string, callIdOfServer = ''): ShownItem {
    const sent = plainNumber(event.output_index);
    const isFree =
      typeof sent === 'number' && Number.isSafeInteger(sent) && sent >= 0 && !this.#indexes.has(sent);
    const index = isFree ? sent : this.#nextIndex;
    const id = this.#freeId(item, idOfServer, index);
    const callId = isCall(item.type) ? this.#callIds.idOf(callIdOfServer || id, this.ownId, index) : '';
    this.isChanged ||= id !== idOfServer || callId !== callIdOfServer;
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    this.#indexes.add(index);
    this.#ids.add(id);
    const shown = { index, id, callId, parts: new Set<string>(), hasPieces: false, done: null };
    this.#items.set(item, shown);
    return shown;
  }

  /** Two items of one answer may have one id. Servers that are sent an id back ask how it begins. */
  #freeId({ type }: KnownItem, idOfServer: string, index: number): string {
    const mayPass =
      idOfServer !== '' && (this.#provider === undefined || !repeatsHidden(idOfServer, this.#provider));
    for (const id of mayPass ? [idOfServer, `${idOfServer}_${index}`] : []) if (!this.#ids.has(id)) return id;
    return madeItemId(type, this.ownId, index);
  }

  clear(): void {
    for (const kept of [this.#items, this.#indexes, this.#ids]) kept.clear();
  }
}

/** The members that name an item, as the caller knows it. */
export const namesOf = ({ id, callId }: ShownItem): Members => ({
  id,
  ...(callId === '' ? {} : { call_id: callId }),
});
