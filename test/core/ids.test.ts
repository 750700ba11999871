import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { createIdSource, idTimeMs, randomBase62, toBase62 } from '#core/ids.ts';
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
