import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallHistory } from '#core/calls/call-history.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { openCall } from '#core/calls/open-call.ts';
import type { AgentView, HoldView, KeyView } from '#core/ledger/ledger.ts';
import { listCalls } from '../../api/account/list-calls.ts';
import { readCallCursor, writeCallCursor } from '../../api/contract/call-entry.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const clock = createFakeClock();
const call = { model: 'acme/small', modelName: 'Acme Small', endpoint: 'chat/completions', stream: false };

const holdOf = (callId: number, keyId = 1): HoldView => ({
  agentId: 1,
  callId,
  keyId,
  kind: 'text',
  nanoUsd: 5n,
  startedAtMs: clock.now(),
  timeLimitMs: 1_000,
  call,
  generationId: null,
  pending: null,
});

const endedOf = (callId: number, keyId = 1): CallRecord => ({
  ...openCall(holdOf(callId, keyId), undefined, clock.now()),
  outcome: 'ok',
  chargedNanoUsd: 2n,
});

/** A ledger and a history of which a test says what each of them has at the moment it is asked. */
function worldOf(holds: () => HoldView[], ended: () => CallRecord[]) {
  const keys = [1, 2].map((keyId) => ({ keyId, label: `key ${keyId}`, prefix: 'fg_' })) as KeyView[];
  const ledger = { readAgent: async () => ({ agentId: 1, holds: holds(), keys }) as unknown as AgentView };
  const history: Pick<CallHistory, 'list'> = {
    list: async ({ keyId, limit, beforeCallId = Number.MAX_SAFE_INTEGER }) =>
      ended()
        .filter(({ callId, key }) => callId < beforeCallId && (keyId === undefined || key.keyId === keyId))
        .sort((a, b) => b.callId - a.callId)
        .slice(0, limit),
  };
  return { ledger, history, clock };
}

async function pageOf(
  world: ReturnType<typeof worldOf>,
  asked: { keyId?: number; limit?: number; before?: string },
) {
  const beforeCallId = asked.before === undefined ? undefined : (readCallCursor(asked.before) ?? undefined);
  const { keyId, limit = 50 } = asked;
  const result = await listCalls(world, { agentId: 1, keyId, limit, beforeCallId });
  if (!result.ok) throw new Error(result.reason);
  return result.page;
}

describe('a page of calls', () => {
  it('has running calls among those that ended, newest first', async () => {
    const world = worldOf(
      () => [holdOf(5), holdOf(2)],
      () => [endedOf(1), endedOf(3), endedOf(4)],
    );
    const { calls, next } = await pageOf(world, {});
    expect(calls.map(({ id, outcome }) => [id, outcome])).toEqual([
      [5, 'running'],
      [4, 'ok'],
      [3, 'ok'],
      [2, 'running'],
      [1, 'ok'],
    ]);
    expect(next).toBeNull();
  });

  it('shows a call once that ends while it is read, as it ended', async () => {
    let isEnded = false;
    const world = worldOf(
      () => {
        isEnded = true;
        return [holdOf(7)];
      },
      () => (isEnded ? [endedOf(7)] : []),
    );
    expect((await pageOf(world, {})).calls).toMatchObject([
      { id: 7, outcome: 'ok', charge_usd: '0.000000002' },
    ]);
  });

  it('shows what a call of unknown price was, as pending', async () => {
    const end = {
      outcome: 'ok' as const,
      httpStatus: 200,
      errorCode: null,
      durationMs: 12,
      tokens: { prompt: 1, completion: 2, reasoning: null, cached: 0 },
    };
    const pending = { end, pending: {} } as unknown as HoldView['pending'];
    const world = worldOf(
      () => [{ ...holdOf(7), pending }],
      () => [],
    );
    expect((await pageOf(world, {})).calls).toMatchObject([
      { outcome: 'pending', duration_ms: 12, tokens: end.tokens, charge_usd: '0' },
    ]);
  });

  it('of one key has no other key’s calls, running or not', async () => {
    const world = worldOf(
      () => [holdOf(5, 2), holdOf(4, 1)],
      () => [endedOf(3, 2), endedOf(2, 1)],
    );
    expect((await pageOf(world, { keyId: 2 })).calls.map(({ id }) => id)).toEqual([5, 3]);
  });

  it('tells of another page only where there is one', async () => {
    const world = worldOf(
      () => [holdOf(3)],
      () => [endedOf(2), endedOf(1)],
    );
    expect((await pageOf(world, { limit: 3 })).next).toBeNull();
    const { next } = await pageOf(world, { limit: 2 });
    expect(next).toBe(writeCallCursor(2));
    expect(await pageOf(world, { limit: 2, before: next ?? '' })).toMatchObject({
      calls: [{ id: 1 }],
      next: null,
    });
  });
});

it('pages show each call once that was there at the beginning, whatever starts and ends meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 5 })),
      async (calls, limit, draws) => {
        const draw = (): number => draws.next().value;
        let newest = calls;
        const holds = new Set<number>();
        const ended = new Set<number>();
        for (let id = 1; id <= calls; id++) (draw() < 3 ? holds : ended).add(id);
        const goOn = () => {
          for (let i = draw(); i > 0; i--) holds.add(++newest);
          for (const id of holds) {
            if (draw() > 0) continue;
            holds.delete(id);
            ended.add(id);
          }
        };
        const world = worldOf(
          () => [...holds].map((id) => holdOf(id)),
          () => {
            // Between the two reads as well.
            goOn();
            return [...ended].map((id) => endedOf(id));
          },
        );
        const seen: number[] = [];
        for (let before: string | undefined; ; ) {
          const page = await pageOf(world, { limit, ...(before === undefined ? {} : { before }) });
          seen.push(...page.calls.map(({ id }) => id));
          if (page.next === null) break;
          before = page.next;
          goOn();
        }
        expect(seen).toEqual(seen.toSorted((a, b) => b - a));
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.filter((id) => id <= calls)).toEqual(Array.from({ length: calls }, (_, i) => calls - i));
      },
    ),
    { numRuns: 200 },
  );
});

describe('a cursor', () => {
  it('leads back to the call that it was made of', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (callId) => {
        expect(readCallCursor(writeCallCursor(callId))).toBe(callId);
      }),
    );
  });

  it.each(['', 'c', 'c-1', 'c01', 'C1', '1', 'c1 ', 'cG', 'czzzzzzzzzzz', 'c1\n', `c${'1'.repeat(100)}`])(
    '%j is none of ours',
    (text) => {
      expect(readCallCursor(text)).toBeNull();
    },
  );
});
