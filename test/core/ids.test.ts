import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { firstFreeId, ID_LANES, type IdRun, withRun } from '#core/id-lanes.ts';
import { createIdSource, idTimeMs, randomBase62, toBase62 } from '#core/ids.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('call ids', () => {
  it('never repeat in one process, not even in one millisecond or when the clock steps back', () => {
    const clock = createFakeClock();
    const ids = createIdSource(clock);
    const seen = new Set<number>();
    const draw = (count: number) => {
      for (let i = 0; i < count; i++) seen.add(ids.next());
    };
    draw(10_000);
    clock.advance(1);
    draw(10);
    clock.set(clock.now() - DAY_MS);
    draw(10);
    clock.advance(DAY_MS + 1);
    draw(10);
    expect(seen.size).toBe(10_030);
  });

  it.each([
    ['ten minutes', 10 * MINUTE_MS],
    ['three days', 3 * DAY_MS],
  ])('are of the present again, and new ones, once a clock that was %s ahead is right', (_, aheadMs) => {
    const clock = createFakeClock();
    const ids = createIdSource(clock);
    const seen = new Set<number>();
    const draw = () => {
      const id = ids.next();
      expect(seen.has(id)).toBe(false);
      seen.add(id);
      return id;
    };
    draw();
    clock.set(clock.now() + aheadMs);
    for (let i = 0; i < 5_000; i++) draw();
    clock.set(clock.now() - aheadMs);
    for (let i = 0; i < 5_000; i++) expect(idTimeMs(draw()) - clock.now()).toBeLessThan(10);
    // The wrong time comes, and is not wrong any more.
    clock.set(clock.now() + aheadMs);
    for (let i = 0; i < 5_000; i++) draw();
  });

  it('are new although a wrong clock was quiet for a while before it was right again', () => {
    const clock = createFakeClock();
    const ids = createIdSource(clock);
    const seen = new Set<number>();
    let drawn = 0;
    const drawEachMs = (forMs: number) => {
      for (let ms = 0; ms < forMs; ms++, drawn++) {
        seen.add(ids.next());
        clock.advance(1);
      }
    };
    drawEachMs(100);
    clock.set(clock.now() + 120 * MINUTE_MS);
    const wrongFromMs = clock.now();
    drawEachMs(30_000);
    clock.advance(6 * MINUTE_MS);
    drawEachMs(30_000);
    clock.set(clock.now() - 120 * MINUTE_MS);
    drawEachMs(100);
    clock.set(wrongFromMs);
    drawEachMs(30_000);
    clock.advance(6 * MINUTE_MS);
    drawEachMs(30_000);
    expect(seen.size).toBe(drawn);
  });

  it('are new where a wrong clock was busy for longer than ids may be ahead, three times', () => {
    const clock = createFakeClock();
    const ids = createIdSource(clock);
    const seen = new Set<number>();
    let misdated = 0;
    const wrongFromMs = clock.now() + 120 * MINUTE_MS;
    for (let time = 0; time < 4; time++) {
      clock.set(wrongFromMs - 60 * MINUTE_MS);
      ids.next();
      clock.set(wrongFromMs);
      for (let ms = 0; ms < 11 * MINUTE_MS; ms += 4, clock.advance(4)) {
        const id = ids.next();
        if (idTimeMs(id) !== clock.now()) misdated++;
        seen.add(id);
      }
    }
    expect(misdated).toBe(0);
    expect(seen.size).toBe((4 * 11 * MINUTE_MS) / 4);
  });

  const JUMP_MS = 120 * MINUTE_MS;
  const anyStep = fc.oneof(
    fc.record({ kind: fc.constant('jump'), ms: fc.integer({ min: -200 * MINUTE_MS, max: 200 * MINUTE_MS }) }),
    // The same jumps again lead to the same times.
    fc.record({
      kind: fc.constant('jump'),
      ms: fc.constantFrom(-JUMP_MS, -10 * MINUTE_MS, 10 * MINUTE_MS, JUMP_MS),
    }),
    fc.record({ kind: fc.constant('jump'), ms: fc.integer({ min: -6 * MINUTE_MS, max: 6 * MINUTE_MS }) }),
    fc.record({ kind: fc.constant('right'), ms: fc.constant(0) }),
    fc.record({ kind: fc.constant('quiet'), ms: fc.integer({ min: 1, max: 20 * MINUTE_MS }) }),
    fc.record({ kind: fc.constant('busy'), ms: fc.integer({ min: 500, max: 2_000 }) }),
    fc.record({ kind: fc.constant('burst'), ms: fc.constant(0) }),
  );

  it('never repeat, are of the present and grow with it, however the clock goes', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 5, maxLength: 60, size: 'max' }), (steps) => {
        const clock = createFakeClock();
        const ids = createIdSource(clock);
        const seen = new Set<number>();
        let offMs = 0;
        let last = 0;
        const draw = () => {
          const id = ids.next();
          const aheadMs = idTimeMs(id) - clock.now();
          const stepsBack = id <= last && last - id <= (CLOCK_APART_MAX_MS - 1) * 4_096;
          if (seen.has(id) || aheadMs < 0 || aheadMs > CLOCK_APART_MAX_MS || stepsBack)
            expect.fail(`${id} behind ${last}, ${aheadMs} ms ahead, ${seen.has(id) ? 'again' : 'new'}`);
          seen.add(id);
          last = id;
        };
        for (const { kind, ms } of steps) {
          if (kind === 'quiet') clock.advance(ms);
          else if (kind === 'busy') for (let each = 0; each < ms; each++, clock.advance(1)) draw();
          else if (kind === 'burst') for (let each = 0; each < 500; each++) draw();
          else {
            const by = kind === 'right' ? -offMs : ms;
            clock.set(clock.now() + by);
            offMs += by;
          }
          draw();
        }
      }),
      { numRuns: 60 },
    );
  });

  it('are remembered in bounded memory, and no used one is forgotten', () => {
    const anyRun = fc.record({
      lane: fc.nat(ID_LANES - 1),
      start: fc.nat(100_000),
      length: fc.nat(200),
    });
    fc.assert(
      fc.property(fc.array(anyRun, { maxLength: 300, size: 'max' }), fc.nat(100_000), (drawn, at) => {
        const runs = drawn.map(({ lane, start, length }) => ({
          lane,
          from: start * ID_LANES + lane,
          to: (start + length) * ID_LANES + lane,
        }));
        const remembered = runs.reduce(withRun, [] as readonly IdRun[]);
        expect(remembered.length).toBeLessThanOrEqual(64);
        const free = firstFreeId(remembered, at * ID_LANES, 0);
        expect(free.id).toBeGreaterThanOrEqual(at * ID_LANES);
        expect(free.id % ID_LANES).toBe(free.lane);
        const taken = runs.filter(
          ({ lane, from, to }) => lane === free.lane && to >= free.id && from < free.until,
        );
        expect(taken).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('grow, so that the newest call has the largest', () => {
    const clock = createFakeClock();
    const ids = createIdSource(clock);
    let last = 0;
    for (let i = 0; i < 1_000; i++) {
      clock.advance(i % 3);
      const id = ids.next();
      expect(id).toBeGreaterThan(last);
      last = id;
    }
  });

  it('tell when they were made, and are safe integers for centuries', () => {
    const clock = createFakeClock();
    expect(idTimeMs(createIdSource(clock).next())).toBe(clock.now());
    const late = createFakeClock(Date.UTC(2090, 0, 1));
    expect(Number.isSafeInteger(createIdSource(late).next())).toBe(true);
  });

  it('of two processes in one millisecond rarely meet', () => {
    const clock = createFakeClock();
    const first = Array.from({ length: 50 }, () => createIdSource(clock).next());
    expect(new Set(first).size).toBeGreaterThan(40);
  });
});

describe('letters and digits', () => {
  it('are as many as were asked for, and all of them occur about equally', () => {
    const text = randomBase62(62_000);
    expect(text).toMatch(/^[0-9A-Za-z]{62000}$/);
    const counts = new Map<string, number>();
    for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // A thousand each; five standard deviations are 160.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200);
    expect(randomBase62(0)).toBe('');
  });

  it.each([
    [0, 3, '000'],
    [61, 2, '0z'],
    [62, 2, '10'],
    [3_844, 2, '00'],
    [4_294_967_295, 6, '4gfFC3'],
  ])('%i in %i letters is %s', (value, length, text) => {
    expect(toBase62(value, length)).toBe(text);
  });
});
