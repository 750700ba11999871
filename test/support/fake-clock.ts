import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { HOUR_MS, type MachineClock, systemClock, type Timer } from '#core/clock.ts';
import './shared-cluster.ts';

/** Time moves only when the test says so. */
export interface FakeClock extends MachineClock {
  /** Moves both clocks on and fires what falls due on the way, in order, each at its own time. */
  advance(ms: number): void;
  /** Steps the wall clock alone, as an operator or a time server does: timers do not notice. */
  set(nowMs: number): void;
  /** The machine sleeps: its wall clock and its uptime move on, its timers do not. */
  sleep(ms: number): void;
  /** Timers that wait: none should be left when all work is done. */
  pendingTimers(): number;
}

interface Waiting {
  dueMs: number;
  fire: () => void;
}

export function createFakeClock(
  startMs = defaultStartMs(),
  { uptimeMs = HOUR_MS, bootId = randomUUID() }: { uptimeMs?: number; bootId?: string } = {},
): FakeClock {
  let wallMs = startMs;
  let monotonicMs = 0;
  let sleptMs = 0;
  const waiting = new Set<Waiting>();

  function moveTo(targetMs: number): void {
    wallMs += targetMs - monotonicMs;
    monotonicMs = targetMs;
  }

  function nextDue(untilMs: number): Waiting | null {
    let next: Waiting | null = null;
    for (const timer of waiting) {
      if (timer.dueMs <= untilMs && (next === null || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }

  return {
    now: () => wallMs,
    monotonicMs: () => monotonicMs,
    // By default the machine has been up for a while, so that it has learnt the time.
    uptimeMs: () => uptimeMs + monotonicMs + sleptMs,
    bootId,
    setTimer(delayMs, fire): Timer {
      const timer = { dueMs: monotonicMs + Math.max(0, delayMs), fire };
      waiting.add(timer);
      return { cancel: () => void waiting.delete(timer) };
    },
    advance(ms) {
      const untilMs = monotonicMs + ms;
      for (let timer = nextDue(untilMs); timer !== null; timer = nextDue(untilMs)) {
        waiting.delete(timer);
        moveTo(timer.dueMs);
        timer.fire();
      }
      moveTo(untilMs);
    },
    set(nowMs) {
      wallMs = nowMs;
    },
    sleep(ms) {
      wallMs += ms;
      sleptMs += ms;
    },
    pendingTimers: () => waiting.size,
  };
}

/** Beside a real Redis, whose clock cannot be set, the true time: a caller whose clock is far from it is refused. */
const defaultStartMs = (): number =>
  inject('cluster') === undefined ? Date.UTC(2026, 10, 18, 10) : systemClock.now();
