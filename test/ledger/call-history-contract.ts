import { expect, test } from 'vitest';
import type { CallHistory } from '#core/calls/call-history.ts';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import type { CallEnd } from '#core/events/ledger-event.ts';
import type { Settle } from '#core/ledger/command.ts';
import { LOT_DAYS_MAX } from '#core/limits.ts';
import { callIdAt, charged, does, ok, type Row, type World } from './case.ts';
import {
  agentWith,
  callEnd,
  callFacts,
  changeKey,
  finish,
  grant,
  putKey,
  reserve,
  setAgent,
  settle,
} from './commands.ts';

/** A ledger without agents, and the history of what happens in it. */
export interface HistoryWorld extends World {
  /** Answers with all that the ledger has told so far. */
  history: CallHistory;
}

/** Ends one call after it held. */
export const call = (n: number, cost: bigint, more: object = {}): Row[] => [
  does(reserve(n, 10n, more), ok),
  does(settle(n, cost, more), charged(cost)),
];

export async function run(world: World, ...rows: readonly Row[]): Promise<void> {
  for (const row of rows) await row(world);
}

export async function list(
  { history }: HistoryWorld,
  page: { agentId?: number; keyId?: number; beforeCallId?: number },
) {
  const calls = await history.list({ agentId: 1, limit: 3, ...page });
  if (calls === 'unavailable') throw new Error('unavailable');
  return calls;
}

/** What every history promises. */
export function testCallHistory(newWorld: () => Promise<HistoryWorld>): void {
  test('an ended call shows every field of its record, at once', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(reserve(1, 10n), ok));
    const end = { ...callEnd, tokens: { prompt: 11, completion: 22, reasoning: 3, cached: 4 } };
    await run(world, does(settle(1, 6n, { end }), charged(6n)));
    const callId = world.callIds.get(1);
    expect(await list(world, {})).toEqual([
      {
        callId,
        agentId: 1,
        startedAtMs: world.clock.now(),
        durationMs: 1_500,
        key: { keyId: 1, label: 'key 1', prefix: 'fg_prefix001' },
        call: callFacts,
        outcome: 'ok',
        httpStatus: 200,
        errorCode: null,
        tokens: { prompt: 11, completion: 22, reasoning: 3, cached: 4 },
        reservedNanoUsd: 10n,
        chargedNanoUsd: 6n,
      },
    ]);
    expect(await world.history.find(callId ?? 0)).toEqual((await list(world, {}))[0]);
    expect(await world.history.find(1)).toBeNull();
  });

  test('a call whose tokens are an estimate says so, and a call whose provider counted them does not', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(reserve(1, 10n), ok), does(reserve(2, 10n), ok));
    const estimated = { ...callEnd, tokens: { ...callEnd.tokens, estimated: true as const } };
    await run(world, does(settle(1, 6n, { end: estimated }), charged(6n)), does(settle(2, 6n), charged(6n)));
    for (const page of [{}, { keyId: 1 }]) {
      expect((await list(world, page)).map(({ tokens }) => tokens)).toEqual([
        callEnd.tokens,
        estimated.tokens,
      ]);
    }
    expect(await world.history.find(world.callIds.get(1) ?? 0)).toMatchObject({
      tokens: { estimated: true },
    });
  });

  test('a call that the provider counted in the end loses the mark of the estimate that stood there before', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(reserve(1, 10n), ok), does(reserve(2, 10n), ok));
    const estimated = { ...callEnd, tokens: { ...callEnd.tokens, estimated: true as const } };
    await run(world, does(finish(1, { end: estimated }), ok), does(finish(2), ok));
    expect((await list(world, {})).map(({ tokens }) => tokens.estimated)).toEqual([undefined, true]);
    await run(world, does(settle(1, 6n), charged(6n)), does(settle(2, 6n, { end: estimated }), charged(6n)));
    expect((await list(world, {})).map(({ tokens }) => tokens)).toEqual([estimated.tokens, callEnd.tokens]);
  });

  test('calls that were written together keep what each was a call of', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n));
    const facts = [
      callFacts,
      { ...callFacts, model: 'another/model' },
      { ...callFacts, modelName: 'Another' },
      { ...callFacts, endpoint: 'messages' },
      { ...callFacts, stream: !callFacts.stream },
      callFacts,
    ];
    for (const [n, of] of facts.entries()) await run(world, does(reserve(n + 1, 1n, { call: of }), ok));
    // All in one commit.
    const settles = await Promise.all(
      facts.map((_, n) => world.ledger.execute(settle(n + 1, 1n)(world) as Settle)),
    );
    await Promise.all(settles.map(({ durable }) => durable));
    const calls = await world.history.list({ agentId: 1, limit: 9 });
    if (calls === 'unavailable') throw new Error('unavailable');
    expect(calls.map((each) => each.call)).toEqual(facts.toReversed());
  });

  test('pages go back through the calls of an agent, newest first, each call once', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n));
    for (let n = 1; n <= 8; n++) await run(world, ...call(n, 1n));
    const pages: number[][] = [];
    let beforeCallId: number | undefined;
    for (;;) {
      const page = await list(world, beforeCallId === undefined ? {} : { beforeCallId });
      if (page.length === 0) break;
      pages.push(page.map((each) => each.callId % 4096));
      beforeCallId = page.at(-1)?.callId;
    }
    expect(pages).toEqual([
      [8, 7, 6],
      [5, 4, 3],
      [2, 1],
    ]);
  });

  test("one key's calls, and never another agent's, even with the same id", async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(putKey(2), ok));
    await run(world, does(setAgent({ agentId: 2 }), ok), does(putKey(3, { agentId: 2 }), ok));
    await run(world, does(grant(100n, { agentId: 2 }), ok));
    await run(world, ...call(1, 1n), ...call(2, 2n, { keyId: 2 }), ...call(1, 3n, { agentId: 2, keyId: 3 }));
    expect((await list(world, { keyId: 2 })).map((each) => each.chargedNanoUsd)).toEqual([2n]);
    expect((await list(world, {})).map((each) => each.chargedNanoUsd)).toEqual([2n, 1n]);
    expect((await list(world, { agentId: 2 })).map((each) => each.chargedNanoUsd)).toEqual([3n]);
  });

  test('a pending call costs nothing yet, and counts once when it is priced', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(reserve(1, 10n), ok), does(finish(1), ok));
    expect((await list(world, {}))[0]).toMatchObject({ outcome: 'pending', chargedNanoUsd: 0n });
    const range = { agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-18' };
    expect(await world.history.usage(range)).toEqual([]);
    await run(world, does(settle(1, 6n), charged(6n)));
    expect(await list(world, {})).toMatchObject([{ outcome: 'ok', chargedNanoUsd: 6n }]);
    expect(await world.history.usage(range)).toEqual([
      {
        day: '2026-11-18',
        model: 'acme/small',
        modelName: 'Acme Small',
        calls: 1,
        tokens: 30,
        chargedNanoUsd: 6n,
      },
    ]);
  });

  test('usage is summed by agent, the day on which a call started, and model', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), ...call(1, 1n), ...call(2, 2n), does(reserve(3, 10n), ok));
    await run(
      world,
      ...call(4, 4n, { call: { ...callFacts, model: 'acme/large', modelName: 'Acme Large' } }),
    );
    world.clock.set(world.clock.now() + DAY_MS);
    await run(world, does(settle(3, 3n), charged(3n)));
    await run(world, ...call(5, 5n, { callId: callIdAt(world.clock.now(), 5) }));
    await run(world, does(setAgent({ agentId: 2 }), ok), does(putKey(3, { agentId: 2 }), ok));
    await run(world, does(grant(100n, { agentId: 2 }), ok));
    await run(world, ...call(6, 7n, { agentId: 2, keyId: 3, callId: callIdAt(world.clock.now(), 6) }));
    const usage = await world.history.usage({ agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-19' });
    if (usage === 'unavailable') throw new Error('unavailable');
    expect(usage.map((row) => [row.day, row.model, row.calls, row.tokens, row.chargedNanoUsd])).toEqual([
      ['2026-11-18', 'acme/large', 1, 30, 4n],
      ['2026-11-18', 'acme/small', 3, 90, 6n],
      ['2026-11-19', 'acme/small', 1, 30, 5n],
    ]);
    expect(
      await world.history.usage({ agentId: 1, fromDay: '2026-11-19', toDay: '2026-11-19' }),
    ).toHaveLength(1);
    expect(
      await world.history.usage({ agentId: 2, fromDay: '2026-11-18', toDay: '2026-11-19' }),
    ).toMatchObject([{ day: '2026-11-19', calls: 1, tokens: 30, chargedNanoUsd: 7n }]);
    expect(await world.history.usage({ agentId: 3, fromDay: '2026-11-18', toDay: '2026-11-19' })).toEqual([]);
  });

  test('a model that was renamed has the name of its newest call, whichever key called it', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(putKey(2), ok));
    const range = { agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-18' };
    const names = ['Beta', 'Alpha', 'Gamma', 'Beta'];
    for (const [n, modelName] of names.entries()) {
      const of = { keyId: 1 + (n % 2), call: { ...callFacts, modelName } };
      await run(world, ...call(n + 1, 1n, of));
      expect(await world.history.usage(range)).toMatchObject([{ modelName, calls: n + 1 }]);
    }
  });

  test('sums of money pass 2^53 exactly', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(8_999_999_999_999_999n));
    await run(world, does(reserve(1, 8_999_999_999_999_999n), ok));
    await run(world, does(settle(1, 8_999_999_999_999_999n), charged(8_999_999_999_999_999n)));
    await run(world, does(grant(8_999_999_999_999_998n, { grantId: 'grant-2' }), ok));
    await run(world, does(reserve(2, 8_999_999_999_999_998n), ok));
    await run(world, does(settle(2, 8_999_999_999_999_998n), charged(8_999_999_999_999_998n)));
    const usage = await world.history.usage({ agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-18' });
    expect(usage).toMatchObject([{ calls: 2, chargedNanoUsd: 17_999_999_999_999_997n }]);
  });

  test('a page goes back over days without calls, for an agent and for one of its keys', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(putKey(2), ok));
    for (const [n, days] of [0, 0, 1, 3, 30, 29].entries()) {
      world.clock.set(world.clock.now() + days * DAY_MS);
      const more = { keyId: n % 2 === 0 ? 1 : 2, callId: callIdAt(world.clock.now(), n + 1) };
      await run(
        world,
        does(grant(10n, { grantId: `g${n}`, expiresAtMs: lotOf(world) }), ok),
        ...call(n + 1, 1n, more),
      );
    }
    const ids = async (page: Parameters<typeof list>[1]) =>
      (await list(world, page)).map((each) => each.callId % 4096);
    expect(await ids({})).toEqual([6, 5, 4]);
    expect(await ids({ keyId: 2 })).toEqual([6, 4, 2]);
    const [, , fourth] = await list(world, {});
    expect(await ids({ beforeCallId: fourth?.callId ?? 0 })).toEqual([3, 2, 1]);
    expect(await ids({ keyId: 1, beforeCallId: fourth?.callId ?? 0 })).toEqual([3, 1]);
    expect(await ids({ beforeCallId: 1 })).toEqual([]);
  });

  test('a call that was priced shows nothing of what it ended as before', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(reserve(1, 10n), ok));
    const tokens = { prompt: 1, completion: 2, reasoning: 3, cached: 4 };
    const before: CallEnd = {
      outcome: 'failed',
      httpStatus: 502,
      errorCode: 'provider_error',
      tokens,
      durationMs: 9,
    };
    await run(world, does(finish(1, { end: before }), ok));
    expect(await list(world, {})).toMatchObject([{ httpStatus: 502, errorCode: 'provider_error', tokens }]);
    const end: CallEnd = { ...callEnd, httpStatus: null };
    await run(world, does(settle(1, 6n, { end }), charged(6n)));
    expect(await list(world, {})).toMatchObject([{ ...end, chargedNanoUsd: 6n }]);
  });

  test('a call shows its key as the key was called when the price was known', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(reserve(1, 10n), ok), does(finish(1), ok));
    expect(await list(world, {})).toMatchObject([{ key: { label: 'key 1' } }]);
    await run(world, does(changeKey(1, { label: 'renamed' }), ok), does(settle(1, 6n), charged(6n)));
    expect(await list(world, {})).toMatchObject([{ outcome: 'ok', key: { label: 'renamed' } }]);
  });

  test('a call is found by its id alone; of two agents that drew the same one, for the first', async () => {
    const world = await newWorld();
    await run(
      world,
      ...agentWith(100n),
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(3, { agentId: 2 }), ok),
    );
    await run(world, does(grant(100n, { agentId: 2 }), ok));
    await run(
      world,
      ...call(1, 2n, { agentId: 2, keyId: 3 }),
      ...call(1, 1n),
      ...call(2, 3n, { agentId: 2, keyId: 3 }),
    );
    const found = async (n: number) => world.history.find(world.callIds.get(n) ?? 0);
    expect(await found(1)).toMatchObject({ agentId: 1, chargedNanoUsd: 1n });
    expect(await found(2)).toMatchObject({ agentId: 2, chargedNanoUsd: 3n });
  });
}

/** Of credit that ends as late as it may. */
const lotOf = ({ clock }: World): number => startOfDayMs(clock.now()) + LOT_DAYS_MAX * DAY_MS;
