import type { Pool } from 'undici';
import type { NanoUsd } from '#core/money.ts';
import { type CallResult, startCall, type Target } from './call.ts';

export interface LoadResult {
  calls: number;
  failed: number;
  /** Statuses of what failed, for the report. */
  failures: Map<number, number>;
  shownNanoUsd: NanoUsd;
  elapsedMs: number;
}

export const emptyLoad = (): LoadResult => ({
  calls: 0,
  failed: 0,
  failures: new Map(),
  shownNanoUsd: 0n,
  elapsedMs: 0,
});

/** More would be a mistake of ours: no machine that this runs on is that fast. */
const CALLS_MAX = 1_000_000;

/** `callers` at once, each with one call after the other, and at least one. Every call that was begun is finished and counted. */
export function runLoad(
  pool: Pool,
  target: Target,
  body: Buffer,
  { callers, durationMs }: { callers: number; durationMs: number },
): Promise<LoadResult> {
  const result = emptyLoad();
  const startedMs = performance.now();
  let running = callers;
  return new Promise((resolve) => {
    const start = (caller: number): void =>
      startCall(pool, target, caller, body, (call) => ended(call, caller));
    function ended(call: CallResult, caller: number): void {
      count(result, call);
      const over = performance.now() - startedMs >= durationMs || result.calls + running > CALLS_MAX;
      if (!over) start(caller);
      else if (--running === 0) resolve({ ...result, elapsedMs: performance.now() - startedMs });
    }
    for (let caller = 0; caller < callers; caller++) start(caller);
  });
}

export function count(result: LoadResult, call: CallResult): void {
  result.calls += 1;
  result.shownNanoUsd += call.costNanoUsd;
  if (call.ok) return;
  result.failed += 1;
  result.failures.set(call.status, (result.failures.get(call.status) ?? 0) + 1);
}
