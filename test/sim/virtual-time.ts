import type { Timer } from '#core/clock.ts';

interface Due {
  atMs: number;
  /** Of two that fall due at once, the one that was set first comes first. */
  order: number;
  fire: (() => void) | null;
}

/**
 * Time that goes from one event straight to the next. Code of the product runs under it as it is: whatever waits,
 * waits for a timer or an answer that is an event here, and between two events every promise comes to rest. So one
 * seed makes one history, in whatever real time.
 */
export class VirtualTime {
  nowMs: number;
  steps = 0;
  /** A binary heap, the soonest on top. */
  readonly #due: Due[] = [];
  #order = 0;

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const due: Due = { atMs: this.nowMs + Math.max(0, Math.ceil(delayMs)), order: this.#order++, fire };
    this.#push(due);
    return {
      cancel() {
        due.fire = null;
      },
    };
  }

  /** Runs everything that falls due up to then. Stops early once `isOver` says so. */
  async runFor(ms: number, isOver: () => boolean = () => false): Promise<void> {
    const untilMs = this.nowMs + ms;
    while (!isOver()) {
      const due = this.#due[0];
      if (due === undefined || due.atMs > untilMs) break;
      this.#pop();
      if (due.fire === null) continue;
      this.nowMs = Math.max(this.nowMs, due.atMs);
      this.steps++;
      due.fire();
      await promisesAtRest();
    }
    if (!isOver()) this.nowMs = untilMs;
  }

  /** All machines stand still for so long: what fell due meanwhile comes late, and in its order. */
  standStill(ms: number): void {
    this.nowMs += ms;
  }

  #push(due: Due): void {
    const heap = this.#due;
    let at = heap.length;
    heap.push(due);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isSooner(above, due)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#due;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let below = heap[child];
      const right = heap[child + 1];
      if (below === undefined) break;
      if (right !== undefined && isSooner(right, below)) {
        below = right;
        child++;
      }
      if (isSooner(last, below)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

const isSooner = (a: Due, b: Due): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** Node runs a tick only when no promise has anything left to do, however long a chain of them is. */
const promisesAtRest = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
