/**
 * Numbers the events of a response as its caller gets them. OpenAI's rise by one from event to event, and clients take a number that comes
 * twice for an event that comes twice, so events that the gateway adds or leaves out change those of all that follow.
 */
export class EventNumbers {
  /** `null`: no event was shown. */
  #next: number | null = null;

  /** The number of the next event of the gateway's own. */
  get next(): number {
    return this.#next ?? 0;
  }

  /** Whether the next event has this number. */
  isNext(sent: unknown): boolean {
    return isNumber(sent) && (this.#next === null || sent === this.#next);
  }

  /**
   * Takes the number of the next event.
   *
   * @param sent The server's own number, at which the first event begins.
   */
  take(sent?: unknown): number {
    const number = this.#next ?? (isNumber(sent) ? sent : 0);
    this.#next = number + 1;
    return number;
  }
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
