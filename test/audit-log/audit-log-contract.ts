import { expect, test } from 'vitest';
import type { AuditLine, AuditLog } from '#core/audit-log/audit-log.ts';
import { DAY_MS, HOUR_MS } from '#core/clock.ts';
import { createIdSource, firstIdAt } from '#core/ids.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

export const START_MS = Date.UTC(2026, 10, 21, 10);

export interface TestedAuditLog extends AsyncDisposable {
  log: AuditLog;
  /** The same log, as another process sees it. */
  again(): AuditLog | Promise<AuditLog>;
}

/** What both shapes promise of who changed what. `open`: an empty one. */
export function testAuditLog(open: (clock: FakeClock) => Promise<TestedAuditLog>): void {
  const world = async () => {
    const clock = createFakeClock(START_MS);
    const tested = await open(clock);
    const ids = createIdSource(clock);
    const line = (id: number, result: string, more: Partial<AuditLine> = {}): AuditLine => ({
      ...{ id, atMs: clock.now(), operator: 'ada', address: '127.0.0.1', action: 'agents.suspend' },
      ...{ subject: { agent_id: 7, name: 'two\nlines', repeated: false }, result, ...more },
    });
    /** Both lines; answers the id. */
    const change = async (result = 'ok', action = 'agents.suspend') => {
      const id = ids.next();
      await tested.log.write(line(id, 'started', { action }));
      await tested.log.write(line(id, result, { action }));
      return id;
    };
    return {
      ...tested,
      [Symbol.asyncDispose]: () => tested[Symbol.asyncDispose](),
      clock,
      ids,
      line,
      change,
    };
  };

  test('a change is one entry with both its times, and what the second line says of it', async () => {
    await using w = await world();
    const id = w.ids.next();
    await w.log.write(w.line(id, 'started'));
    w.clock.advance(5);
    await w.log.write(w.line(id, 'ok', { subject: { agent_id: 7, id: 3 } }));
    expect(await w.log.list({ limit: 10 })).toEqual([
      {
        ...{ id, operator: 'ada', address: '127.0.0.1', action: 'agents.suspend' },
        ...{ subject: { agent_id: 7, id: 3 }, startedAtMs: START_MS },
        ended: { atMs: START_MS + 5, result: 'ok' },
      },
    ]);
  });

  test('a change that was cut off stands there with its first line', async () => {
    await using w = await world();
    const id = w.ids.next();
    await w.log.write(w.line(id, 'started'));
    expect(await w.log.list({ limit: 10 })).toMatchObject([
      { id, ended: null, subject: { agent_id: 7, name: 'two\nlines', repeated: false } },
    ]);
  });

  test('a refused change keeps its code', async () => {
    await using w = await world();
    await w.change('not_found');
    expect(await w.log.list({ limit: 1 })).toMatchObject([{ ended: { result: 'not_found' } }]);
  });

  test('what was written is there for whoever opens the log next, at once', async () => {
    await using w = await world();
    const id = await w.change();
    expect(await (await w.again()).list({ limit: 10 })).toMatchObject([{ id }]);
  });

  test('no line is written over: a second one of the same kind and id is refused', async () => {
    await using w = await world();
    const id = await w.change();
    for (const result of ['started', 'ok', 'not_found']) {
      await expect(w.log.write(w.line(id, result, { operator: 'eve' }))).rejects.toThrow();
    }
    expect(await w.log.list({ limit: 10 })).toMatchObject([{ operator: 'ada', ended: { result: 'ok' } }]);
  });

  test('pages go back in time without a gap, over the ends of months, whatever was cut off', async () => {
    await using w = await world();
    const made: number[] = [];
    for (let n = 0; n < 12; n++) {
      const id = w.ids.next();
      await w.log.write(w.line(id, 'started'));
      if (n % 3 !== 0) await w.log.write(w.line(id, 'ok'));
      made.unshift(id);
      w.clock.advance(11 * DAY_MS);
    }
    const found: number[] = [];
    for (let beforeId: number | undefined; ; ) {
      const page = await w.log.list({ limit: 5, beforeId });
      if (page === 'unavailable' || page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(5);
      found.push(...page.map(({ id }) => id));
      beforeId = found.at(-1);
    }
    expect(found).toEqual(made);
  });

  test('only of one kind, and only since a moment', async () => {
    await using w = await world();
    await w.change('ok', 'keys.create');
    const old = await w.change();
    w.clock.advance(HOUR_MS);
    const sinceMs = w.clock.now();
    const key = await w.change('ok', 'keys.create');
    const recent = await w.change();
    const idsOf = async (page: object) => {
      const found = await w.log.list({ limit: 10, ...page });
      return found === 'unavailable' ? found : found.map(({ id }) => id);
    };
    expect(await idsOf({ action: 'agents.suspend' })).toEqual([recent, old]);
    expect(await idsOf({ sinceMs })).toEqual([recent, key]);
    expect(await idsOf({ sinceMs, action: 'agents.suspend', limit: 1 })).toEqual([recent]);
    expect(await idsOf({ action: 'credit.grant' })).toEqual([]);
  });

  test('lines that are written at once are all there', async () => {
    await using w = await world();
    const ids = Array.from({ length: 20 }, () => w.ids.next());
    await Promise.all(ids.map((id) => w.log.write(w.line(id, 'started'))));
    await Promise.all(ids.map((id) => w.log.write(w.line(id, 'ok'))));
    const found = await w.log.list({ limit: 50 });
    expect(found === 'unavailable' ? found : found.map(({ id }) => id)).toEqual(ids.toReversed());
  });

  test('a change of a process whose clock is a minute ahead is shown, too', async () => {
    await using w = await world();
    const ahead = firstIdAt(w.clock.now() + 60_000) + 1;
    await w.log.write(w.line(ahead, 'started'));
    expect(await w.log.list({ limit: 10 })).toMatchObject([{ id: ahead }]);
  });
}
