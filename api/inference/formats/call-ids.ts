import { type Hidden, repeatsHidden } from '../scrub/scrub-words.ts';
import { madeCallId } from './call-numbers.ts';

/** The ids of the calls of one answer, each of which one call has: their results name the calls by them. */
export class CallIds {
  readonly #given = new Set<string>();
  readonly #provider: Hidden['provider'] | undefined;

  /** @param provider No id may repeat its key or address; `undefined`: that is checked elsewhere. */
  constructor(provider?: Hidden['provider']) {
    this.#provider = provider;
  }

  has(id: string): boolean {
    return this.#given.has(id);
  }

  /** Whether a call that begins now may have this id. */
  isFree(id: string): boolean {
    return id !== '' && !this.has(id) && (this.#provider === undefined || !repeatsHidden(id, this.#provider));
  }

  add(id: string): void {
    this.#given.add(id);
  }

  /** Whether a call that begins now may have this id, which no later call gets then. */
  keeps(id: string): boolean {
    const isFree = this.isFree(id);
    if (isFree) this.add(id);
    return isFree;
  }

  /**
   * The id of a call: the server's, unless it gave none, gave it to an earlier call, or tells of itself by it.
   *
   * @param number The call's place in the answer.
   */
  idOf(ofServer: string, answerId: string, number: number): string {
    const id = this.isFree(ofServer) ? ofServer : madeCallId(answerId, number);
    this.add(id);
    return id;
  }
}
