import { describe, expect, it } from 'vitest';
import type { SettleResult } from '#core/ledger/command.ts';
import type { Durability, Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import { type Closing, LAST_CHUNK_WAIT_MS, LedgerRetries } from '../../api/inference/hold/ledger-retries.ts';
import { callEnd, pendingPrice } from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';

type Answer = SettleResult | 'unavailable' | 'unconfirmed' | 'unconfirmed no hold' | Error;

const charged: SettleResult = { ok: true, repeated: false, chargedNanoUsd: 5n, overrunNanoUsd: 0n };
const settle: Closing = {
  type: 'settle',
  agentId: 1,
  callId: 2,
  costNanoUsd: 5n,
  end: callEnd,
  cause: 'end',
};
const finish: Closing = { type: 'finish', agentId: 1, callId: 2, end: callEnd, pending: pendingPrice };
const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Retries over a ledger that answers as the test lists, and the last answer from then on. */
function world(...answers: Answer[]) {
  const clock = createFakeClock();
  const asked: { command: unknown; atMs: number }[] = [];
  const logged: string[] = [];
  const log: Log = {
    info: () => {},
    warn: (event) => void logged.push(event),
    error: (event) => void logged.push(event),
  };
  const memory = createMemoryLedger({ clock });
  const execute = async (command: unknown) => {
    asked.push({ command, atMs: clock.monotonicMs() });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === undefined || answer instanceof Error) throw answer;
    if (answer === 'unavailable') {
      return { result: { ok: false, reason: answer }, durable: Promise.resolve<Durability>('unknown') };
    }
    const unsure = { unconfirmed: charged, 'unconfirmed no hold': { ok: false, reason: 'no_hold' } };
    if (typeof answer === 'string') {
      return { result: unsure[answer], durable: Promise.resolve<Durability>('unknown') };
    }
    return { result: answer, durable: Promise.resolve<Durability>('durable') };
  };
  const ledger: Ledger = Object.assign(memory, { execute });
  return { clock, asked, logged, retries: new LedgerRetries({ ledger, clock, log }) };
}

async function passes(clock: ReturnType<typeof createFakeClock>, ms: number, stepMs = 50) {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await soon();
  }
}

describe('the last step of a call', () => {
  it.each([settle, finish])('is over when the journal has it: $type', async (command) => {
    const { retries, asked, clock } = world(charged);
    await retries.close(command);
    expect([asked.length, retries.waiting, clock.pendingTimers()]).toEqual([1, 0, 0]);
  });

  it.each<[string, Answer]>([
    ['is out', 'unavailable'],
    ['does not confirm', 'unconfirmed'],
    ['fails', new Error('a fault of the ledger')],
  ])('is asked again, word for word, while the ledger %s', async (_what, trouble) => {
    const { retries, asked, clock } = world(trouble, trouble, trouble, charged);
    const closed = retries.close(settle);
    await passes(clock, LAST_CHUNK_WAIT_MS);
    await closed;
    expect(retries.waiting).toBe(1);
    await passes(clock, 5_000);
    expect(asked.map((each) => each.command)).toEqual([settle, settle, settle, settle]);
    expect([retries.waiting, clock.pendingTimers()]).toEqual([0, 0]);
  });

  it('is asked ever more rarely, but four seconds after the last time at the latest, for as long as it takes', async () => {
    const { retries, asked, clock } = world('unavailable');
    void retries.close(settle);
    await soon();
    await passes(clock, 600_000, 250);
    const gaps = asked.slice(1).map(({ atMs }, i) => atMs - (asked[i]?.atMs ?? 0));
    expect(gaps.slice(0, 4).map((gap) => Math.round(gap / 250))).toEqual([1, 2, 4, 8]);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(4_250);
    expect(asked.length).toBeGreaterThan(140);
    expect(retries.waiting).toBe(1);
  });

  it('rule 8, settle: is not over while a store whose time may have passed says that there is no hold', async () => {
    const { retries, asked, logged, clock } = world('unconfirmed no hold', 'unconfirmed no hold', charged);
    void retries.close(settle);
    await passes(clock, 2_000);
    expect([asked.length, retries.waiting, logged]).toEqual([3, 0, []]);
  });

  it('rule 8, settle: tells what was charged when the journal has it in time, and charges no more than it said else', async () => {
    const lower: SettleResult = { ok: true, repeated: true, chargedNanoUsd: 3n };
    const { retries } = world(lower);
    expect(await retries.close(settle)).toBe(3n);
    const late = world('unavailable', 'unconfirmed', charged);
    const closed = late.retries.close(settle);
    await passes(late.clock, 3_000);
    // Nothing was known when the last chunk had to go: what it shows is the settle's own cost.
    expect(await closed).toBeNull();
    expect(late.asked.map(({ command }) => command)).toEqual([settle, settle, settle]);
  });

  it.each<[string, SettleResult, number]>([
    ['without a hold, which is told', { ok: false, reason: 'no_hold' }, 1],
    ['done before', { ok: true, repeated: true, chargedNanoUsd: 5n }, 0],
  ])('is over when the call is %s', async (_what, answer, told) => {
    const { retries, asked, logged, clock } = world('unavailable', answer);
    void retries.close(settle);
    await passes(clock, 1_000);
    expect([asked.length, retries.waiting, logged.length]).toEqual([2, 0, told]);
  });

  it('is waited for when the process wants to end', async () => {
    const { retries, clock } = world('unavailable', 'unavailable', charged);
    void retries.close(settle);
    void retries.close(finish);
    let isIdle = false;
    const idle = retries.idle().then(() => {
      isIdle = true;
    });
    await soon();
    expect([isIdle, retries.waiting]).toEqual([false, 2]);
    await passes(clock, 2_000);
    await idle;
    expect([isIdle, retries.waiting]).toEqual([true, 0]);
  });
});
