import { describe, expect, test } from 'vitest';
import {
  DISPATCH_WAITS_ABOVE_LAG_MS,
  DISPATCH_WAITS_AFTER_TIMEOUT_MS,
  DispatchWait,
} from '#core/ledger/cluster/dispatch-wait.ts';
import type { Durability } from '#core/ledger/ledger.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function start() {
  const clock = createFakeClock();
  const wait = new DispatchWait(clock);
  const told: string[] = [];
  /** A start that is told of this lag; answers what the log says of it later. */
  const starts = (name: string, lagMs: number): ((durability: Durability) => void) => {
    let say: (durability: Durability) => void = () => {};
    const durable = new Promise<Durability>((resolve) => {
      say = resolve;
    });
    void wait.before(lagMs, durable).then((what) => told.push(`${name} ${what}`));
    return say;
  };
  const soon = async () => {
    for (let i = 0; i < 5; i++) await null;
    return told.splice(0);
  };
  return { clock, wait, starts, soon };
}

describe('rule 6, gate: a provider', () => {
  test('is asked at once while the log keeps up', async () => {
    const { starts, soon } = start();
    starts('a', DISPATCH_WAITS_ABOVE_LAG_MS);
    expect(await soon()).toEqual(['a go']);
  });

  test('is asked only after the acknowledgement while the log lags, and never when none comes', async () => {
    const { wait, starts, soon } = start();
    const sayA = starts('a', DISPATCH_WAITS_ABOVE_LAG_MS + 1);
    const sayB = starts('b', DISPATCH_WAITS_ABOVE_LAG_MS + 1);
    expect(await soon()).toEqual([]);
    sayA('durable');
    sayB('unknown');
    expect(await soon()).toEqual(['a go', 'b give_up']);
    expect([wait.dispatchWaits, wait.gateTimeouts]).toEqual([2, 1]);
  });

  test('is asked only after the acknowledgement for half a minute after the log was too late for a start', async () => {
    const { clock, starts, soon } = start();
    starts('first', 0)('unknown');
    expect(await soon()).toEqual(['first go']);
    clock.advance(DISPATCH_WAITS_AFTER_TIMEOUT_MS - 1);
    const say = starts('second', 0);
    expect(await soon()).toEqual([]);
    say('durable');
    expect(await soon()).toEqual(['second go']);
    clock.advance(1);
    starts('third', 0);
    expect(await soon()).toEqual(['third go']);
  });
});
