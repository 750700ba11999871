import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Capacity } from '#core/capacity/capacity.ts';
import type { FormatName } from '#core/catalog/catalog.ts';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import type { ApiError } from '../../api/contract/errors.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { callCeiling, readStartRoom } from '../../api/inference/hold/read-start-room.ts';
import { refuseCapacity, refuseReserve } from '../../api/inference/hold/refuse-start.ts';
import { adviseText } from '../../api/inference/hold/start-advice.ts';
import { estimateHold } from '../../api/inference/price/estimate.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { keyLimits } from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { plainHealth } from '../support/plain-health.ts';
import { atto, endpoint, model, noLinkRules, prices, testCatalog } from './support.ts';

/** A dollar of the worlds below: a thousand tokens of the dearer model's answer. */
const UNIT = 1_000_000n;
const catalog = testCatalog({
  models: ['acme/small', 'acme/dear'].map((id) =>
    model({
      id,
      contextLength: 32_768,
      maxOutputTokens: 8_192,
      endpoints: [
        endpoint({
          upstreamModel: id,
          prices: prices({
            prompt: atto('0.00000001'),
            completion: atto(id === 'acme/dear' ? '0.000001' : '0.0000002'),
          }),
        }),
      ],
    }),
  ),
});

interface Bounds {
  format: FormatName;
  creditUnits: number;
  keyUnits: number | null;
  reset: 'daily' | 'weekly' | 'monthly';
  shareUnits: number | null;
  perCallUnits: number;
  poolUnits: number;
  /** What other calls of the agent hold, and what it was charged today. */
  heldUnits: number;
  chargedUnits: number;
  cap: number | null;
  secondCap: number | null;
  budget: number | null;
  n: number;
  fallback: boolean;
}

/** One agent with one key in front of the real ledger, and its starts as `start-call.ts` makes them. */
async function startWorld(bounds: Bounds) {
  const clock = createFakeClock();
  const ledger = createMemoryLedger({ clock });
  const source = { agentId: 1, source: 'test', sourceVersion: 1, name: 'Ada', token: null } as const;
  await ledger.execute({ ...source, type: 'set_agent', mode: 'create', status: 'active' });
  const grant = async (nanoUsd: NanoUsd, grantId: string) => {
    const expiresAtMs = startOfDayMs(clock.now()) + 7 * DAY_MS;
    if (nanoUsd > 0n) await ledger.execute({ type: 'grant', agentId: 1, grantId, expiresAtMs, nanoUsd });
  };
  // Another key's running and ended calls, which the key's own limit does not count.
  const used = BigInt(bounds.heldUnits + bounds.chargedUnits) * UNIT;
  await grant(BigInt(bounds.creditUnits) * UNIT + used, 'first');
  for (const keyId of [1, 2]) {
    await ledger.execute({
      type: 'put_key',
      readVersion: null,
      agentId: 1,
      keyId,
      label: 'k',
      prefix: 'fg_prefix001',
      hash: `h${keyId}`,
      limit:
        keyId === 2 || bounds.keyUnits === null
          ? null
          : { limitNanoUsd: BigInt(bounds.keyUnits) * UNIT, reset: bounds.reset },
      actingKeyId: null,
      madeOverMcp: false,
      limits: keyLimits,
    });
  }
  const ids = createIdSource(clock);
  const share = bounds.shareUnits === null ? null : BigInt(bounds.shareUnits) * UNIT;
  const capacity = new Capacity(
    () => ({
      perCallNanoUsd: BigInt(bounds.perCallUnits) * UNIT,
      poolNanoUsd: BigInt(bounds.poolUnits) * UNIT,
      runningCalls: 100,
    }),
    { isOver: () => false },
  );
  const gateway = { capacity, dailyShareNanoUsd: () => share, ledger, clock };
  const reserve = async (keyId: number, nanoUsd: NanoUsd, withShare: boolean) => {
    const callId = ids.next();
    const { result } = await ledger.execute({
      type: 'reserve',
      agentId: 1,
      keyId,
      callId,
      nonce: 'n',
      kind: 'text',
      nanoUsd,
      timeLimitMs: DAY_MS,
      callerNowMs: clock.now(),
      call: { model: 'm', modelName: 'm', endpoint: 'chat/completions', stream: false },
      price: {
        providerId: 'p',
        promptAtto: '0',
        completionAtto: '0',
        cacheReadAtto: '0',
        requestAtto: '0',
        factorPpm: '1000000',
        promptEstimateTokens: 0,
      },
      limits: {
        callsPerMinute: 60_000,
        burst: 1_000,
        runningCalls: 100,
        dailyShareNanoUsd: withShare ? share : null,
      },
    });
    return { result, callId };
  };
  const settle = (id: number, costNanoUsd: NanoUsd) =>
    ledger.execute({
      type: 'settle',
      agentId: 1,
      callId: id,
      costNanoUsd,
      end: {
        outcome: 'ok',
        httpStatus: 200,
        errorCode: null,
        tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 },
        durationMs: 1,
      },
      cause: 'end',
    });
  if (bounds.chargedUnits > 0) {
    const amount = BigInt(bounds.chargedUnits) * UNIT;
    await settle((await reserve(2, amount, false)).callId, amount);
  }
  const held =
    bounds.heldUnits === 0 ? null : (await reserve(2, BigInt(bounds.heldUnits) * UNIT, false)).callId;

  return {
    clock,
    grant,
    async endOthers() {
      if (held !== null) await settle(held, 0n);
    },
    /** `null`: the call may start. */
    async start(body: object): Promise<ApiError | null> {
      const routes = { catalog, health: plainHealth(), links: noLinkRules };
      const admitted = admitCall(
        callFormats[bounds.format],
        Buffer.from(JSON.stringify(body)),
        'active',
        routes,
      );
      if (!admitted.ok) return admitted.error;
      const { plan } = admitted;
      const hold = estimateHold(plan);
      const caller = { agentId: 1, keyId: 1 };
      const ceilingNanoUsd = callCeiling(gateway);
      const answer = capacity.admit(hold, ceilingNanoUsd);
      if (answer !== 'admitted') {
        const room = await readStartRoom(gateway, caller);
        return refuseCapacity(answer, adviseText(plan), hold, { ceilingNanoUsd, room });
      }
      capacity.release(hold);
      const { result } = await reserve(1, hold, true);
      if (result.ok) return null;
      const room = await readStartRoom(gateway, caller);
      const facts = { nowMs: clock.now(), callsPerMinute: 600, waitForClockMs: () => 0, room };
      return refuseReserve(result, adviseText(plan), hold, facts);
    },
  };
}

const capField: Readonly<Record<FormatName, string>> = {
  chat: 'max_completion_tokens',
  responses: 'max_output_tokens',
  messages: 'max_tokens',
};

function bodyOf({ format, cap, secondCap, budget, n, fallback }: Bounds): Record<string, unknown> {
  const chat = format === 'chat';
  const body: Record<string, unknown> = { ...requestIn(format, 'acme/small') };
  if (cap !== null) body[capField[format]] = cap;
  if (chat && secondCap !== null) body.max_tokens = secondCap;
  if (chat && n > 1) body.n = n;
  if (fallback) body.models = ['acme/dear'];
  if (budget !== null) {
    if (format === 'messages') body.thinking = { type: 'enabled', budget_tokens: budget };
    else body.reasoning = { max_tokens: budget };
  }
  return body;
}

/** The request as its caller changes it; `thinking` goes as a whole, because it is nothing without its budget. */
function obey(
  body: Record<string, unknown>,
  changes: NonNullable<NonNullable<ApiError['advice']>['changes']>,
) {
  const changed = structuredClone(body);
  for (const { field, value } of changes) {
    const [first = '', second] = field.split('.');
    if (second === undefined) changed[first] = value;
    else if (value === null) delete changed[first];
    else changed[first] = { ...(changed[first] as object), [second]: value };
  }
  return changed;
}

const units = fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: 80 }));
const boundsArbitrary: fc.Arbitrary<Bounds> = fc.record({
  format: fc.constantFrom<FormatName>(...FORMATS),
  creditUnits: units,
  keyUnits: fc.option(
    units.map((each) => Math.max(10, each)),
    { nil: null },
  ),
  reset: fc.constantFrom('daily', 'weekly', 'monthly'),
  shareUnits: fc.option(units, { nil: null }),
  perCallUnits: fc.oneof(fc.constant(1_000), units),
  poolUnits: fc.oneof(fc.constant(1_000), units),
  heldUnits: fc.nat({ max: 5 }),
  chargedUnits: fc.nat({ max: 5 }),
  cap: fc.option(fc.integer({ min: 1, max: 8_192 }), { nil: null }),
  secondCap: fc.option(fc.integer({ min: 1, max: 8_192 }), { nil: null }),
  budget: fc.option(fc.integer({ min: 1_024, max: 8_000 }), { nil: null }),
  n: fc.integer({ min: 1, max: 5 }),
  fallback: fc.boolean(),
});

describe('a caller who does what a refusal says', () => {
  it('starts with the very next call: by a lower cap, by waiting until the named time, or by the named credit', async () => {
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(boundsArbitrary, async (bounds) => {
        const body = bodyOf(bounds);
        const world = await startWorld(bounds);
        const error = await world.start(body);
        if (error === null) return;
        const { advice, message, code } = error;
        if (advice === undefined) throw new Error(`${code} advises nothing: ${message}`);
        met.add(code);
        // The words say no more and no less than the advice.
        for (const { field, value } of advice.changes ?? []) {
          expect(message).toContain(`\`${field}\``);
          if (value !== null) expect(message).toContain(String(value));
        }
        if (advice.changes === null && code !== 'daily_share_used')
          expect(message).toMatch(/At least \$[\d.]+ is needed|it may fit when one ends/);
        if (advice.changes !== null) {
          const again = await startWorld(bounds);
          expect(await again.start(obey(body, advice.changes))).toBeNull();
        }
        if (message.includes('it may fit when one ends')) {
          const again = await startWorld(bounds);
          await again.endOthers();
          expect(await again.start(body)).toBeNull();
        }
        if (advice.waitUntilMs !== null) {
          await world.endOthers();
          world.clock.advance(advice.waitUntilMs - world.clock.now());
          // Credit that ended meanwhile is no bound of this refusal.
          await world.grant(BigInt(bounds.creditUnits) * UNIT, 'later');
          expect(await world.start(body)).toBeNull();
        }
      }),
      { numRuns: 3_000 },
    );
    expect([...met].toSorted()).toEqual([
      'daily_share_used',
      'insufficient_balance',
      'key_limit',
      'request_over_capacity',
    ]);
  });

  const plain: Bounds = {
    format: 'chat',
    creditUnits: 1_000,
    keyUnits: null,
    reset: 'daily',
    shareUnits: null,
    perCallUnits: 1_000,
    poolUnits: 1_000,
    heldUnits: 0,
    chargedUnits: 0,
    cap: 8_000,
    secondCap: null,
    budget: null,
    n: 1,
    fallback: true,
  };
  const refusalOf = async (given: Partial<Bounds>) => {
    const bounds = { ...plain, ...given };
    const error = await (await startWorld(bounds)).start(bodyOf(bounds));
    if (error === null) throw new Error('it starts');
    return error;
  };

  it('is not told to wait for 00:00 where the call alone is above the whole share', async () => {
    const { code, message, advice } = await refusalOf({ shareUnits: 4 });
    expect(code).toBe('request_over_capacity');
    expect(message).not.toContain('00:00');
    expect(advice?.waitUntilMs).toBeNull();
  });

  it('is not told to wait for the reset of a key whose whole limit is below the call', async () => {
    const { code, message, advice } = await refusalOf({ keyUnits: 10, n: 3 });
    expect(code).toBe('key_limit');
    expect(message).toContain('waiting for its reset does not help');
    expect(advice?.waitUntilMs).toBeNull();
  });

  it('is not told to wait for a pool that has no place for the call even when it is empty', async () => {
    expect((await refusalOf({ poolUnits: 3 })).code).toBe('request_over_capacity');
  });

  it('is told one cap that fits balance, key, share and ceiling at once', async () => {
    const { code, advice } = await refusalOf({
      perCallUnits: 7,
      shareUnits: 6,
      keyUnits: 10,
      creditUnits: 2,
    });
    expect(code).toBe('request_over_capacity');
    expect(advice?.changes?.[0]?.value).toBeLessThan(2_000);
  });

  it('is told to lower every cap that was sent, and the budget of reasoning with them', async () => {
    const both = await refusalOf({ creditUnits: 3, secondCap: 7_000 });
    expect(both.message).toMatch(
      /largest `max_completion_tokens` that fits is \d+\. Lower `max_tokens` to \d+, too\./,
    );
    const budget = await refusalOf({ format: 'messages', creditUnits: 3, budget: 5_000 });
    expect(budget.message).toMatch(/Lower `thinking.budget_tokens` to \d+, too\./);
    const small = await refusalOf({ format: 'messages', creditUnits: 1, budget: 5_000 });
    expect(small.message).toContain('Leave `thinking.budget_tokens` out');
  });

  it('is advised no cap that servers of the responses format refuse', async () => {
    const hold = (await refusalOf({ format: 'responses', creditUnits: 0 })).advice?.needNanoUsd ?? 0n;
    expect((await refusalOf({ format: 'responses', creditUnits: 0 })).message).toContain(
      'Not even an answer of 16 tokens',
    );
    expect(hold).toBeGreaterThan(0n);
  });

  it.each<[string, Partial<Bounds>, string, string[]]>([
    ['its share of the day', { shareUnits: 5, chargedUnits: 5 }, '00:00 UTC', ['add credit', 'raise']],
    ['its credit', { creditUnits: 0 }, 'add credit', ['00:00', 'raise']],
    ['the limit of its key', { keyUnits: 0 }, 'raise the limit', ['add credit', '00:00']],
  ])('is told to change the bound that leaves the least: %s', async (_bound, given, helps, others) => {
    const { message, advice } = await refusalOf({ perCallUnits: 5, ...given });
    expect(advice?.changes).toBeNull();
    expect(message).toContain(helps);
    for (const other of others) expect(message).not.toContain(other);
  });

  it('is told the amount that is needed where not even one token fits, and it is enough', async () => {
    const bounds = { ...plain, creditUnits: 0 };
    const world = await startWorld(bounds);
    const error = await world.start(bodyOf(bounds));
    const need = error?.advice?.needNanoUsd ?? 0n;
    expect(error?.message).toContain(`At least $${formatUsd(need)} is needed.`);
    await world.grant(need - 1n, 'nearly');
    expect((await world.start({ ...bodyOf(bounds), max_completion_tokens: 1 }))?.code).toBe(
      'insufficient_balance',
    );
    await world.grant(1n, 'enough');
    expect(await world.start({ ...bodyOf(bounds), max_completion_tokens: 1 })).toBeNull();
  });
});
