import type { Command } from '#core/ledger/command.ts';
import type { Decision } from '#core/ledger/machine/decision.ts';
import type { Hold, LedgerState } from '#core/ledger/machine/state.ts';
import { windowStartMs } from './oracle-calendar.ts';

/** How often each thing happened that a run must have seen to mean anything. */
export type Coverage = Map<string, number>;

/** Before the decision is applied. */
export function observe(
  coverage: Coverage,
  command: Command,
  decision: Decision<object>,
  state: LedgerState,
  nowMs: number,
): void {
  count(coverage, outcomeOf(command, decision.result));
  const agent = state.agents.get(command.agentId);
  if (decision.lease !== null && decision.lease.endsAtMs - 60_000 === nowMs) {
    const endsAtMs = agent?.leases.get(decision.lease.callId) ?? 0;
    count(coverage, endsAtMs > nowMs ? 'a lease is renewed' : 'a lapsed lease is taken again');
  }
  if (decision.lease?.endsAtMs === nowMs) count(coverage, 'a slot is left before the call ends');
  for (const event of decision.events) {
    count(coverage, `event ${event.type}`);
    if (event.type === 'reserved' && event.allocations.length > 1)
      count(coverage, 'a hold over several lots');
    if (event.type === 'moved_in' && event.expiredNanoUsd !== '0') {
      count(
        coverage,
        event.expiresAtMs <= nowMs ? 'bought credit had ended' : 'bought credit is above the cap',
      );
    }
    if (event.type !== 'settled') continue;
    if (event.overrunNanoUsd !== '0') count(coverage, 'a cost above the hold');
    if (event.video !== undefined) count(coverage, 'a video is made');
    if (event.stored !== undefined) count(coverage, 'images are stored');
    if (event.chargedNanoUsd === '0') count(coverage, 'a charge of nothing');
    const hold = agent?.holds.get(event.callId);
    if (hold !== undefined) observeEnd(coverage, command, hold, event.chargedNanoUsd, nowMs);
  }
}

function observeEnd(coverage: Coverage, command: Command, hold: Hold, charged: string, nowMs: number): void {
  if (command.type === 'settle' && command.cause === 'orphan') count(coverage, 'an orphan is freed');
  if (hold.pending !== null) count(coverage, 'a pending call is priced');
  const ended = hold.allocations.some(({ expiresAtMs }) => expiresAtMs <= nowMs);
  if (ended) count(coverage, 'held credit ends before its call');
  if (ended && BigInt(charged) < hold.nanoUsd) count(coverage, 'the rest goes back to a lot that has ended');
  for (const reset of ['daily', 'weekly', 'monthly'] as const) {
    if (windowStartMs(reset, hold.startedAtMs) < windowStartMs(reset, nowMs)) {
      count(coverage, `a ${reset} period turns while a call is held`);
    }
  }
}

/** Which of the things that must happen never did. */
export const missing = (coverage: Coverage): string[] => EXPECTED.filter((name) => !coverage.has(name));

export function addCoverage(into: Coverage, from: Iterable<readonly [string, number]>): void {
  for (const [name, times] of from) into.set(name, (into.get(name) ?? 0) + times);
}

const count = (coverage: Coverage, name: string): void =>
  void coverage.set(name, (coverage.get(name) ?? 0) + 1);

function outcomeOf(command: Command, result: object): string {
  const { reason, repeated, expiredNanoUsd } = {
    reason: null,
    repeated: false,
    expiredNanoUsd: null,
    ...result,
  };
  if (command.type === 'expire') return expiredNanoUsd === 0n ? 'expire: nothing' : 'expire: something';
  if (reason !== null) return `${command.type}: ${reason}${repeated ? ', repeated' : ''}`;
  return `${command.type}: ${repeated ? 'repeated' : 'ok'}`;
}

const outcomes: Record<Command['type'], readonly string[]> = {
  reserve: [
    'ok',
    'repeated',
    'clock_apart',
    'stale_id',
    'unknown_agent',
    'id_taken',
    'done',
    'video_exists',
    'key_revoked',
    'agent_inactive',
    'agent_suspended',
    'rate',
    'running_calls',
    'open_videos',
    'storage_full',
    'daily_share',
    'key_limit',
    'balance',
  ],
  renew: ['ok', 'no_hold'],
  finish: ['ok', 'repeated', 'done', 'no_hold'],
  settle: ['ok', 'repeated', 'no_hold', 'not_orphaned'],
  grant: ['ok', 'repeated', 'not_midnight', 'lot_ended', 'lot_too_far', 'over_cap'],
  expire: ['nothing', 'something'],
  move_out: [
    'ok',
    'repeated',
    'unknown_agent',
    'lot_ended',
    'nothing',
    'balance',
    'balance, repeated',
    'other_terms, repeated',
  ],
  move_in: ['ok', 'repeated'],
  put_key: [
    'ok',
    'repeated',
    'unknown_agent',
    'agent_not_active',
    'key_revoked',
    'id_taken',
    'hash_taken',
    'too_many_active_keys',
    'too_many_mcp_keys',
    'acting_key_revoked',
    'acting_key_limited',
  ],
  change_key: ['ok', 'repeated', 'unknown_key', 'key_revoked', 'acting_key_revoked', 'acting_key_limited'],
  start_upload: [
    'ok',
    'repeated',
    'unknown_agent',
    'agent_inactive',
    'agent_suspended',
    'balance',
    'uploads_per_day',
  ],
  claim_video: ['ok', 'repeated', 'no_hold', 'claimed', 'submitted'],
  submit_video: ['ok', 'repeated', 'no_hold', 'not_claimed'],
  withdraw_video: ['ok', 'repeated', 'no_hold', 'not_claimed', 'submitted'],
  revoke_key: ['ok', 'repeated', 'unknown_key', 'acting_key_revoked', 'acting_key_limited'],
  set_agent: ['ok', 'repeated', 'exists', 'unknown_agent'],
};

const EXPECTED: readonly string[] = [
  ...Object.entries(outcomes).flatMap(([command, ofCommand]) => ofCommand.map((one) => `${command}: ${one}`)),
  'event renewed',
  'a lease is renewed',
  'a lapsed lease is taken again',
  'a slot is left before the call ends',
  'a hold over several lots',
  'bought credit had ended',
  'bought credit is above the cap',
  'a cost above the hold',
  'a charge of nothing',
  'a video is made',
  'images are stored',
  'an orphan is freed',
  'a pending call is priced',
  'held credit ends before its call',
  'the rest goes back to a lot that has ended',
  'a daily period turns while a call is held',
  'a weekly period turns while a call is held',
  'a monthly period turns while a call is held',
];
