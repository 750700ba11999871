import { madeCallId } from './call-numbers.ts';

/** The ids of the calls of one answer, each of which one call has: their results name the calls by them. */
export class CallIds {
  readonly #given = new Set<string>();

  has(id: string): boolean {
    return this.#given.has(id);
  }

  add(id: string): void {
    this.#given.add(id);
  }

  /**
   * The id of a call: the server's, unless it gave none, or gave it to an earlier call.
   *
   * @param number The call's place in the answer.
   */
  idOf(ofServer: string, answerId: string, number: number): string {
    const id = ofServer === '' || this.has(ofServer) ? madeCallId(answerId, number) : ofServer;
    this.add(id);
    return id;
  }
}
