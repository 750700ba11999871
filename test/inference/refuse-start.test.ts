import { describe, expect, it } from 'vitest';
import type { CapacityAnswer } from '#core/capacity/capacity.ts';
import type { ReserveRefusal } from '#core/ledger/command.ts';
import type { UnavailableResult } from '#core/ledger/ledger.ts';
import { errorTable } from '../../api/contract/errors.ts';
import { refuseAgent, refuseCapacity, refuseReserve } from '../../api/inference/hold/refuse-start.ts';
import { adviseText } from '../../api/inference/hold/start-advice.ts';
import { estimateHold } from '../../api/inference/price/estimate.ts';
import { bodyWith, candidate, endpoint, planOf, prices } from './support.ts';

const NOW = Date.UTC(2026, 10, 18, 10);
const MIDNIGHT = Date.UTC(2026, 10, 19);
const NANO = 1_000_000_000n;
const table = prices({ prompt: 0n, completion: NANO, request: 100n * NANO });
/** 100 nano-dollars and one for each token of the answer. */
const plan = {
  ...planOf(bodyWith('"max_completion_tokens":1000')),
  candidates: [candidate({ endpoint: endpoint({ prices: table }) })],
};
const hold = estimateHold(plan);
const refuse = (refusal: ReserveRefusal | UnavailableResult) =>
  refuseReserve(refusal, adviseText(plan), hold, {
    nowMs: NOW,
    callsPerMinute: 600,
    waitForClockMs: () => 0,
  });

describe('who may start a call', () => {
  it('an active agent, and no other', () => {
    expect(refuseAgent('active')).toBeNull();
    expect(refuseAgent('inactive')?.code).toBe('agent_inactive');
    expect(refuseAgent('suspended')?.code).toBe('agent_suspended');
  });

  it.each<[CapacityAnswer, string | undefined]>([
    ['admitted', undefined],
    ['over_per_call', 'request_over_capacity'],
    ['pool_full', 'gateway_capacity'],
    ['too_many_running', 'gateway_busy'],
    ['too_late', 'gateway_busy'],
  ])('capacity %s is %s', (answer, code) => {
    expect(refuseCapacity(answer, adviseText(plan), hold, { ceilingNanoUsd: 600n })?.code).toBe(code);
  });

  it('a call too dear by itself is told both amounts and the longest answer that fits', () => {
    const error = refuseCapacity('over_per_call', adviseText(plan), hold, { ceilingNanoUsd: 600n });
    expect(error).toMatchObject({ param: 'max_completion_tokens' });
    expect(error?.message).toContain('$0.0000011');
    expect(error?.message).toContain('$0.0000006');
    expect(error?.message).toContain('The largest `max_completion_tokens` that fits is 500.');
  });
});

describe('what the ledger refused', () => {
  it.each<[ReserveRefusal | UnavailableResult, string]>([
    [{ ok: false, reason: 'unavailable' }, 'service_unavailable'],
    [{ ok: false, reason: 'clock_apart' }, 'service_unavailable'],
    [{ ok: false, reason: 'unknown_agent' }, 'service_unavailable'],
    [{ ok: false, reason: 'stale_id' }, 'gateway_busy'],
    [{ ok: false, reason: 'id_taken' }, 'gateway_busy'],
    [{ ok: false, reason: 'done', chargedNanoUsd: 1n }, 'gateway_busy'],
    [{ ok: false, reason: 'key_revoked' }, 'invalid_api_key'],
    [{ ok: false, reason: 'agent_inactive' }, 'agent_inactive'],
    [{ ok: false, reason: 'agent_suspended' }, 'agent_suspended'],
    [{ ok: false, reason: 'rate', retryAfterMs: 100 }, 'rate_limited'],
    [{ ok: false, reason: 'running_calls', runningCalls: 8, retryAfterMs: 1_000 }, 'too_many_running_calls'],
    [{ ok: false, reason: 'open_videos', openVideos: 20, retryAfterMs: 10_000 }, 'rate_limited'],
    [{ ok: false, reason: 'storage_full', retryAfterMs: 1_000 }, 'rate_limited'],
    [{ ok: false, reason: 'video_exists', videoId: 'vid_1' }, 'service_unavailable'],
    [{ ok: false, reason: 'daily_share', resetsAtMs: MIDNIGHT }, 'daily_share_used'],
  ])('$reason is $1', (refusal, code) => {
    const error = refuse(refusal);
    expect(error.code).toBe(code);
    const { status } = errorTable[error.code];
    if (status === 429 || status === 503) expect(error.retryAfterMs).toBeGreaterThan(0);
  });

  it('a used daily share says the true wait, and that nobody should sleep through it', () => {
    expect(refuse({ ok: false, reason: 'daily_share', resetsAtMs: MIDNIGHT })).toMatchObject({
      retryAfterMs: MIDNIGHT - NOW,
      shouldRetry: false,
    });
  });

  it('the bound of open videos is told with their number', () => {
    const error = refuse({ ok: false, reason: 'open_videos', openVideos: 20, retryAfterMs: 10_000 });
    expect(error.message).toContain('20 videos of this agent are being made');
    expect(error.retryAfterMs).toBe(10_000);
  });

  it('a full storage of images is told with its size and when there is room, and nobody sleeps through days', () => {
    const refusal = { ok: false, reason: 'storage_full', retryAfterMs: MIDNIGHT - NOW } as const;
    expect(refuse(refusal)).toMatchObject({ retryAfterMs: MIDNIGHT - NOW, shouldRetry: false });
    expect(refuse(refusal).message).toContain('5 GB');
    expect(refuse(refusal).message).toContain('2026-11-19T00:00:00.000Z');
    expect(refuse({ ...refusal, retryAfterMs: 60_000 })).not.toHaveProperty('shouldRetry');
  });

  it('a balance that is too low is told with both amounts and the longest answer that fits', () => {
    const { message } = refuse({ ok: false, reason: 'balance', spendableNanoUsd: 350n, heldNanoUsd: 0n });
    expect(message).toContain('would hold $0.0000011');
    expect(message).toContain('$0.00000035 is spendable');
    expect(message).toContain('The largest `max_completion_tokens` that fits is 250.');
    expect(message).not.toContain('Running calls');
  });

  it('and with the calls that hold the rest, only where their end would help', () => {
    const messageOf = (heldNanoUsd: bigint) =>
      refuse({ ok: false, reason: 'balance', spendableNanoUsd: 350n, heldNanoUsd }).message;
    expect(messageOf(750n)).toContain('Running calls hold $0.00000075: it may fit when one ends.');
    expect(messageOf(749n)).not.toContain('Running calls');
  });

  it('where not even one token fits, no cap is advised', () => {
    const { message } = refuse({ ok: false, reason: 'balance', spendableNanoUsd: 100n, heldNanoUsd: 0n });
    expect(message).toContain('Not even an answer of one token fits');
    expect(message).toContain('or add credit.');
    const broke = refuse({ ok: false, reason: 'balance', spendableNanoUsd: 0n, heldNanoUsd: 0n });
    expect(broke.message).toContain('$0 is spendable');
  });

  it('where most of the hold is steps of tools, fewer of them are advised', () => {
    const refused = (stepsMax: number) => {
      const asked = plan.candidates.map((each) => ({ ...each, serverTools: { stepsMax, tools: [] } }));
      return refuseReserve(
        { ok: false, reason: 'balance', spendableNanoUsd: 0n, heldNanoUsd: 0n },
        adviseText({ ...plan, candidates: asked }),
        hold,
        { nowMs: NOW, callsPerMinute: 600, waitForClockMs: () => 0 },
      ).message;
    };
    expect(refused(5)).toContain('fits: send a lower `max_tool_calls`, shorten the prompt');
    expect(refused(1)).not.toContain('max_tool_calls');
  });

  it('a key’s limit is told with what is left, the limit and when it starts anew', () => {
    const { code, message } = refuse({
      ok: false,
      reason: 'key_limit',
      remainingNanoUsd: 200n,
      heldNanoUsd: 900n,
      limitNanoUsd: 2_000_000_000n,
      resetsAtMs: MIDNIGHT,
    });
    expect(code).toBe('key_limit');
    expect(message).toContain('$0.0000002 left of its $2 limit until 2026-11-19T00:00:00.000Z');
    expect(message).toContain('Running calls hold $0.0000009');
    expect(message).toContain('fits is 100');
  });

  it('what a key’s limit leaves no room for is not helped by credit', () => {
    const limit = { limitNanoUsd: 100n, resetsAtMs: MIDNIGHT, heldNanoUsd: 0n };
    const { message } = refuse({ ok: false, reason: 'key_limit', remainingNanoUsd: 100n, ...limit });
    expect(message).toContain('choose a cheaper model, or raise the limit.');
    expect(message).not.toContain('credit');
  });

  it('the cap that is advised is taken when it is sent', () => {
    const dear = planOf(bodyWith('"max_tokens":4000'));
    const spendable = 1_234_567n;
    const { message } = refuseReserve(
      { ok: false, reason: 'balance', spendableNanoUsd: spendable, heldNanoUsd: 0n },
      adviseText(dear),
      estimateHold(dear),
      { nowMs: NOW, callsPerMinute: 600, waitForClockMs: () => 0 },
    );
    const advised = /fits is (\d+)\./.exec(message)?.[1];
    expect(estimateHold(planOf(bodyWith(`"max_tokens":${advised}`)))).toBeLessThanOrEqual(spendable);
    expect(estimateHold(planOf(bodyWith(`"max_tokens":${Number(advised) + 1}`)))).toBeGreaterThan(spendable);
  });
});
