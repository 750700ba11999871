import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type ClockReading, trustedClock } from '#core/trusted-clock.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const JUMPS_MS = [10 * MINUTE_MS, 2 * HOUR_MS, 3 * DAY_MS];
const START_MS = Date.UTC(2026, 10, 18, 10);
const BOOT = { bootId: 'boot 1' };

/** Another process on the same machine: its monotonic clock begins anew. */
function startAgain(
  before: FakeClock,
  { laterMs = 0, aheadMs = 0, bootId = BOOT.bootId, uptimeMs = NaN } = {},
) {
  return createFakeClock(before.now() + laterMs + aheadMs, {
    bootId,
    uptimeMs: Number.isNaN(uptimeMs) ? before.uptimeMs() + laterMs : uptimeMs,
  });
}

function proven() {
  const machine = createFakeClock(START_MS, BOOT);
  return { machine, clock: trustedClock(machine) };
}

describe('a machine that is up', () => {
  test.each(JUMPS_MS)('a jump %i ms forward is not believed until it is accepted', (jumpMs) => {
    const { machine, clock } = proven();
    machine.set(START_MS + jumpMs);
    expect(clock.now()).toBe(START_MS);
    machine.advance(HOUR_MS);
    expect(clock.now()).toBe(START_MS + HOUR_MS);
    expect(clock.doubt()).toEqual({ aheadMs: jumpMs, needsConfirmation: true });
    expect(clock.accept()).toBe(true);
    expect(clock.now()).toBe(machine.now());
    expect(clock.doubt()).toBeNull();
    expect(clock.accept()).toBe(false);
  });

  test.each(JUMPS_MS)('a clock that jumps %i ms and back leaves no trace in the time', (jumpMs) => {
    const { machine, clock } = proven();
    for (const stepMs of [jumpMs, -jumpMs]) {
      machine.set(machine.now() + stepMs);
      machine.advance(2 * MINUTE_MS);
      expect(clock.now()).toBe(START_MS + 2 * MINUTE_MS);
      machine.set(machine.now() - stepMs);
      machine.advance(MINUTE_MS);
      expect(clock.now()).toBe(machine.now());
      machine.set(START_MS);
      expect(clock.now()).toBe(START_MS);
    }
  });

  test('a step back is believed once it has stood for five minutes', () => {
    const { machine, clock } = proven();
    machine.set(START_MS - 2 * HOUR_MS);
    expect(clock.now()).toBe(START_MS);
    machine.advance(5 * MINUTE_MS - SECOND_MS);
    expect(clock.now()).toBe(START_MS + 5 * MINUTE_MS - SECOND_MS);
    expect(clock.doubt()).toBeNull();
    machine.advance(SECOND_MS);
    expect(clock.now()).toBe(machine.now());
  });

  test.each(JUMPS_MS)(
    "a step back of %i ms is believed at once where Redis' clock has agreed with it for five minutes",
    (stepMs) => {
      const machine = createFakeClock(START_MS + stepMs, BOOT);
      const clock = trustedClock(machine);
      const hearOfRedis = () => clock.noteOther(machine.now() - stepMs);
      hearOfRedis();
      machine.advance(5 * MINUTE_MS);
      hearOfRedis();
      expect(clock.now()).toBe(machine.now());
      machine.set(machine.now() - stepMs);
      expect(clock.now()).toBe(machine.now());
    },
  );

  test('the time until a jump is believed is told, where one is known', () => {
    const { machine, clock } = proven();
    expect(clock.believedInMs()).toBeNull();
    machine.set(START_MS + 2 * HOUR_MS);
    expect(clock.believedInMs()).toBeNull();
    clock.noteOther(machine.now());
    machine.advance(MINUTE_MS);
    clock.noteOther(machine.now());
    expect(clock.believedInMs()).toBe(4 * MINUTE_MS);
    machine.set(START_MS - 2 * HOUR_MS);
    clock.now();
    machine.advance(2 * MINUTE_MS);
    expect(clock.believedInMs()).toBe(3 * MINUTE_MS);
    machine.advance(3 * MINUTE_MS);
    expect(clock.now()).toBe(machine.now());
    expect(clock.believedInMs()).toBeNull();
  });

  test("a step back that Redis' clock made too is no more believed than one that it did not make", () => {
    for (const redisMs of [START_MS - 2 * HOUR_MS, START_MS]) {
      const { machine, clock } = proven();
      clock.noteOther(START_MS);
      machine.advance(5 * MINUTE_MS);
      machine.set(machine.now() - 2 * HOUR_MS);
      clock.noteOther(redisMs + 5 * MINUTE_MS);
      expect(clock.now()).toBe(START_MS + 5 * MINUTE_MS);
    }
  });

  test('a clock that comes back after a step back makes no new jump, in this process or the next', () => {
    const { machine, clock } = proven();
    machine.set(START_MS - 2 * HOUR_MS);
    clock.now();
    machine.advance(10 * MINUTE_MS);
    expect(clock.now()).toBe(machine.now());
    const next = startAgain(machine, { laterMs: MINUTE_MS });
    const again = trustedClock(next, clock.reading());
    expect(again.now()).toBe(next.now());
    for (const [of, here] of [
      [clock, machine],
      [again, next],
    ] as const) {
      here.set(here.now() + 2 * HOUR_MS);
      expect(of.now()).toBe(here.now());
      expect(of.doubt()).toBeNull();
    }
  });

  test('a laptop that slept for a night has made no jump', () => {
    const { machine, clock } = proven();
    machine.sleep(8 * HOUR_MS);
    expect(clock.now()).toBe(START_MS + 8 * HOUR_MS);
    expect(clock.doubt()).toBeNull();
  });

  test.each([1, 30, 60])(
    'sleeps of %i s each are counted once, and not again when the clock jumps',
    (sleepS) => {
      const { machine, clock } = proven();
      for (let night = 0; night < 100; night++) {
        machine.sleep(sleepS * SECOND_MS);
        machine.advance(2 * SECOND_MS);
        expect(clock.now()).toBe(machine.now());
      }
      const trueMs = machine.now();
      machine.set(trueMs + 3 * 24 * HOUR_MS);
      expect(clock.now()).toBe(trueMs);
    },
  );

  test('a jump during a sleep is still a jump', () => {
    const { machine, clock } = proven();
    machine.sleep(8 * HOUR_MS);
    machine.set(machine.now() + HOUR_MS);
    expect(clock.now()).toBe(START_MS + 8 * HOUR_MS);
    expect(clock.doubt()).toMatchObject({ aheadMs: HOUR_MS });
  });

  test('a time server that corrects by a minute at most is followed at once, however often', () => {
    const { machine, clock } = proven();
    for (let i = 0; i < 100; i++) {
      machine.set(machine.now() + MINUTE_MS);
      machine.advance(SECOND_MS);
      expect(clock.now()).toBe(machine.now());
    }
  });

  test('a jump to a time that is already written is followed at once', () => {
    const { machine, clock } = proven();
    clock.followLedger(() => START_MS + 2 * HOUR_MS);
    machine.set(START_MS + 2 * HOUR_MS);
    expect(clock.now()).toBe(START_MS + 2 * HOUR_MS);
  });

  test('a step back that was believed ends with a jump that is not, so far as the ledger has come', () => {
    const { machine, clock } = proven();
    machine.advance(3 * HOUR_MS);
    const writtenMs = clock.now();
    clock.followLedger(() => writtenMs);
    machine.set(writtenMs - 2 * HOUR_MS);
    clock.now();
    machine.advance(5 * MINUTE_MS);
    expect(clock.now()).toBe(writtenMs - 2 * HOUR_MS + 5 * MINUTE_MS);

    machine.set(writtenMs + 3 * DAY_MS);
    expect(clock.now()).toBe(writtenMs);
    expect(clock.doubt()).toEqual({ aheadMs: 3 * DAY_MS, needsConfirmation: true });
    machine.advance(MINUTE_MS);
    expect(clock.now()).toBe(writtenMs + MINUTE_MS);
  });
});

describe('a machine that has just started', () => {
  test.each(JUMPS_MS)('a jump of %i ms is believed once it has stood for five minutes', (jumpMs) => {
    const machine = createFakeClock(START_MS, { uptimeMs: 10 * SECOND_MS });
    const clock = trustedClock(machine);
    machine.set(START_MS + jumpMs);
    expect(clock.now()).toBe(START_MS);
    expect(clock.doubt()).toEqual({ aheadMs: jumpMs, needsConfirmation: false });
    machine.advance(4 * MINUTE_MS);
    expect(clock.now()).toBe(START_MS + 4 * MINUTE_MS);
    machine.advance(MINUTE_MS);
    expect(clock.now()).toBe(machine.now());
  });

  test('a step back is followed at once, because the machine may have learnt the time', () => {
    const machine = createFakeClock(START_MS, { uptimeMs: 10 * SECOND_MS });
    const clock = trustedClock(machine);
    machine.set(START_MS - DAY_MS);
    expect(clock.now()).toBe(START_MS - DAY_MS);
  });
});

describe('the next process', () => {
  const lastOf = (clock: { reading(): ClockReading }): ClockReading => clock.reading();

  test.each(JUMPS_MS)('knows that the clock jumped by %i ms while none ran', (jumpMs) => {
    const { machine, clock } = proven();
    const next = startAgain(machine, { laterMs: HOUR_MS, aheadMs: jumpMs });
    const again = trustedClock(next, lastOf(clock));
    expect(again.now()).toBe(START_MS + HOUR_MS);
    expect(again.doubt()).toEqual({ aheadMs: jumpMs, needsConfirmation: true });
    next.set(next.now() - jumpMs);
    expect(again.now()).toBe(next.now());
    expect(again.doubt()).toBeNull();
  });

  test('believes the jump that the one before it doubted', () => {
    const { machine, clock } = proven();
    machine.set(START_MS + 3 * DAY_MS);
    const first = startAgain(machine, { laterMs: MINUTE_MS });
    const again = trustedClock(first, lastOf(clock));
    expect(again.now()).toBe(first.now());
    expect(again.doubt()).toBeNull();
  });

  test('doubts another jump than the one before it did', () => {
    const { machine, clock } = proven();
    machine.set(START_MS + 3 * DAY_MS);
    const next = startAgain(machine, { aheadMs: HOUR_MS });
    expect(trustedClock(next, lastOf(clock)).now()).toBe(START_MS);
  });

  test('is not misled by a stop of days on the same machine', () => {
    const { machine, clock } = proven();
    const next = startAgain(machine, { laterMs: 7 * DAY_MS });
    expect(trustedClock(next, lastOf(clock)).now()).toBe(START_MS + 7 * DAY_MS);
  });

  test('waits five minutes before it believes a step back', () => {
    const { machine, clock } = proven();
    const next = startAgain(machine, { aheadMs: -2 * HOUR_MS });
    const again = trustedClock(next, lastOf(clock));
    expect(again.now()).toBe(START_MS);
    next.advance(5 * MINUTE_MS);
    expect(again.now()).toBe(START_MS + 5 * MINUTE_MS - 2 * HOUR_MS);
  });

  test('follows the clock of a machine that was off for a week and has been up for five minutes', () => {
    const { machine, clock } = proven();
    const next = startAgain(machine, { laterMs: 7 * DAY_MS, bootId: 'boot 2', uptimeMs: 5 * MINUTE_MS });
    const again = trustedClock(next, lastOf(clock));
    expect(again.now()).toBe(next.now());
    expect(again.doubt()).toBeNull();
  });

  test('doubts for five minutes the clock of a machine that has just started, and then needs nobody', () => {
    const { machine, clock } = proven();
    const next = startAgain(machine, { laterMs: 7 * DAY_MS, bootId: 'boot 2', uptimeMs: 30 * SECOND_MS });
    const again = trustedClock(next, lastOf(clock));
    expect(again.now()).toBe(START_MS + 30 * SECOND_MS);
    // By now the machine has been up for five minutes, and learns the time only then.
    next.advance(4 * MINUTE_MS + 50 * SECOND_MS);
    next.set(next.now() - 2 * HOUR_MS);
    expect(again.doubt()).toMatchObject({ needsConfirmation: false });
    next.advance(5 * MINUTE_MS);
    expect(again.now()).toBe(next.now());
  });
});

describe("another machine's clock", () => {
  test('confirms a jump once it has agreed with it for five minutes', () => {
    const { machine, clock } = proven();
    clock.noteOther(START_MS + 3 * DAY_MS);
    machine.advance(5 * MINUTE_MS);
    machine.set(machine.now() + 3 * DAY_MS);
    clock.noteOther(machine.now());
    expect(clock.now()).toBe(machine.now());
  });

  test('confirms nothing when it has just made the same jump', () => {
    const { machine, clock } = proven();
    clock.noteOther(machine.now());
    machine.advance(HOUR_MS);
    machine.set(machine.now() + 3 * DAY_MS);
    clock.noteOther(machine.now());
    machine.advance(2 * MINUTE_MS);
    clock.noteOther(machine.now());
    expect(clock.now()).toBe(START_MS + HOUR_MS + 2 * MINUTE_MS);
  });

  test('confirms nothing when it has not jumped', () => {
    const { machine, clock } = proven();
    machine.set(machine.now() + 3 * DAY_MS);
    for (let i = 0; i < 60; i++) {
      machine.advance(MINUTE_MS);
      clock.noteOther(machine.now() - 3 * DAY_MS);
      expect(clock.now()).toBe(machine.now() - 3 * DAY_MS);
    }
  });
});
