import type { Command, ResultOf, Settle, SettleResult } from '../command.ts';
import type { UnavailableResult } from '../ledger.ts';
import { OPEN_VIDEOS_RETRY_MS, RUNNING_RETRY_MS } from '../machine/decide-reserve.ts';
import { toMoveRefusal } from '../machine/move.ts';
import type { ScriptReply } from './redis-scripts.ts';

/** What a script answered, in the port's words. */
export function toResult<C extends Command>(command: C, reply: ScriptReply): ResultOf<C> | UnavailableResult;
export function toResult(command: Command, reply: ScriptReply): ResultOf<Command> | UnavailableResult {
  const [word, ...values] = reply;
  // A shard that is being rebuilt, or whose events nobody takes to the log.
  if (word === 'FENCED' || word === 'LAGS') return { ok: false, reason: 'unavailable' };
  const texts = values.map(String);
  const result =
    command.type === 'settle' ? settleResult(command, word, texts) : resultOf[command.type](word, texts);
  if (result === null) throw new Error(`the script of ${command.type} answered ${word}`);
  return result;
}

type ReadResult<C extends Command> = (word: string, values: string[]) => ResultOf<C> | null;

const resultOf: { [T in Exclude<Command['type'], 'settle'>]: ReadResult<Extract<Command, { type: T }>> } = {
  reserve: (word, values) => reserveResult(word, values),
  renew: (word) => (word === 'OK' ? { ok: true } : refusal(word, ['no_hold'])),
  finish(word, [, charged]) {
    if (word === 'DONE') return { ok: false, reason: 'done', chargedNanoUsd: nano(charged) };
    return outcome(word, ['no_hold']);
  },
  grant: (word) => outcome(word, ['not_midnight', 'lot_ended', 'lot_too_far', 'over_cap']),
  expire: (word, [, expired]) => (word === 'OK' ? { ok: true, expiredNanoUsd: nano(expired) } : null),
  move_out(word, [, why = '']) {
    if (word === 'OTHER_TERMS') return { ok: false, repeated: true, reason: 'other_terms' };
    if (word === 'REFUSED') return { ok: false, repeated: false, reason: toMoveRefusal(why) };
    if (word === 'REFUSED_BEFORE') return { ok: false, repeated: true, reason: toMoveRefusal(why) };
    return accepted(word);
  },
  move_in(word, [, expired]) {
    const answer = accepted(word);
    return answer === null ? null : { ...answer, expiredNanoUsd: nano(expired) };
  },
  put_key: (word) =>
    outcome(word, [
      'unknown_agent',
      'agent_not_active',
      'key_revoked',
      'id_taken',
      'hash_taken',
      'too_many_active_keys',
      'too_many_mcp_keys',
      ...KEY_MANAGEMENT,
    ]),
  change_key: (word) => outcome(word, ['unknown_key', 'key_revoked', ...KEY_MANAGEMENT]),
  revoke_key: (word) => outcome(word, ['unknown_key', ...KEY_MANAGEMENT]),
  claim_video: (word) => outcome(word, ['no_hold', 'claimed', 'submitted']),
  submit_video: (word) => outcome(word, ['no_hold', 'not_claimed']),
  withdraw_video: (word) => outcome(word, ['no_hold', 'not_claimed', 'submitted']),
  start_upload(word, [, first]) {
    if (word === 'AGENT') return inactive(first);
    if (word === 'UPLOADS_PER_DAY') {
      return { ok: false, reason: 'uploads_per_day', retryAfterMs: Number(first) };
    }
    return outcome(word, ['unknown_agent', 'balance']);
  },
  set_agent: (word) => outcome(word, ['exists', 'unknown_agent']),
};

const KEY_MANAGEMENT = ['changed_since', 'acting_key_revoked', 'acting_key_limited'] as const;

function settleResult(command: Settle, word: string, [, charged]: string[]): SettleResult | null {
  if (word === 'REPEATED') return { ok: true, repeated: true, chargedNanoUsd: nano(charged) };
  if (word !== 'OK') return refusal(word, ['no_hold', 'not_orphaned']);
  const chargedNanoUsd = nano(charged);
  const cost = command.cause === 'orphan' ? 0n : command.costNanoUsd;
  return { ok: true, repeated: false, chargedNanoUsd, overrunNanoUsd: cost - chargedNanoUsd };
}

const reserveResult: (typeof resultOf)['reserve'] = (word, values) => {
  // The first is the place that a refusal rests on.
  const [, first, second, third, fourth] = values;
  switch (word) {
    case 'DONE':
      return { ok: false, reason: 'done', chargedNanoUsd: nano(first) };
    case 'AGENT':
      return inactive(first);
    case 'RATE':
      return { ok: false, reason: 'rate', retryAfterMs: Number(first) };
    case 'RUNNING':
      return {
        ok: false,
        reason: 'running_calls',
        runningCalls: Number(first),
        retryAfterMs: RUNNING_RETRY_MS,
      };
    case 'VIDEO_EXISTS':
      return { ok: false, reason: 'video_exists', videoId: first ?? '' };
    case 'OPEN_VIDEOS':
      return {
        ok: false,
        reason: 'open_videos',
        openVideos: Number(first),
        retryAfterMs: OPEN_VIDEOS_RETRY_MS,
      };
    case 'STORAGE_FULL':
      return { ok: false, reason: 'storage_full', retryAfterMs: Number(first) };
    case 'DAILY_SHARE':
      return { ok: false, reason: 'daily_share', resetsAtMs: Number(first) };
    case 'KEY_LIMIT':
      return {
        ok: false,
        reason: 'key_limit',
        remainingNanoUsd: nano(first),
        heldNanoUsd: nano(second),
        limitNanoUsd: nano(third),
        resetsAtMs: Number(fourth),
      };
    case 'BALANCE':
      return { ok: false, reason: 'balance', spendableNanoUsd: nano(first), heldNanoUsd: nano(second) };
    default:
      return outcome(word, ['clock_apart', 'stale_id', 'id_taken', 'unknown_agent', 'key_revoked']);
  }
};

function accepted(word: string): { ok: true; repeated: boolean } | null {
  return word === 'OK' || word === 'REPEATED' ? { ok: true, repeated: word === 'REPEATED' } : null;
}

const inactive = (status: string | undefined) =>
  ({ ok: false, reason: status === 'suspended' ? 'agent_suspended' : 'agent_inactive' }) as const;

/** Scripts say reasons in capital letters. */
function refusal<R extends string>(word: string, reasons: readonly R[]): { ok: false; reason: R } | null {
  const reason = reasons.find((each) => each.toUpperCase() === word);
  return reason === undefined ? null : { ok: false, reason };
}

const outcome = <R extends string>(word: string, reasons: readonly R[]) =>
  accepted(word) ?? refusal(word, reasons);

const nano = (text: string | undefined): bigint => BigInt(text ?? '');
