import type { ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';

/**
 * What a script answers for a result: the way back from `toResult`. `place`: of the event, or of the shard's latest
 * where nothing new happened.
 */
export function toReply(
  command: Command,
  result: ResultOf<Command>,
  place: string,
  lagMs: number,
): ScriptReply {
  if (result.ok) {
    const repeated = 'repeated' in result && result.repeated;
    const word = repeated ? 'REPEATED' : 'OK';
    if ('chargedNanoUsd' in result) return [word, place, String(result.chargedNanoUsd)];
    if ('expiredNanoUsd' in result) return [word, place, String(result.expiredNanoUsd)];
    return command.type === 'reserve' ? [word, place, String(lagMs)] : [word, place];
  }
  if (command.type === 'move_out' && 'repeated' in result) {
    if (result.reason === 'other_terms') return ['OTHER_TERMS', place];
    return [result.repeated ? 'REFUSED_BEFORE' : 'REFUSED', place, result.reason];
  }
  switch (result.reason) {
    case 'done':
      return ['DONE', place, String(result.chargedNanoUsd)];
    case 'no_hold':
      return command.type === 'renew' ? ['NO_HOLD'] : ['NO_HOLD', place];
    case 'agent_inactive':
      return ['AGENT', 'inactive'];
    case 'agent_suspended':
      return ['AGENT', 'suspended'];
    case 'rate':
      return ['RATE', String(result.retryAfterMs)];
    case 'video_exists':
      return ['VIDEO_EXISTS', place, result.videoId];
    case 'open_videos':
      return ['OPEN_VIDEOS', String(result.openVideos)];
    case 'storage_full':
      return ['STORAGE_FULL', String(result.retryAfterMs)];
    case 'claimed':
    case 'submitted':
    case 'not_claimed':
      return [result.reason.toUpperCase(), place];
    case 'running_calls':
      return ['RUNNING', result.runningCalls];
    case 'daily_share':
      return ['DAILY_SHARE', String(result.resetsAtMs)];
    case 'key_limit':
      return [
        'KEY_LIMIT',
        String(result.remainingNanoUsd),
        String(result.heldNanoUsd),
        String(result.limitNanoUsd),
        String(result.resetsAtMs),
      ];
    case 'uploads_per_day':
      return ['UPLOADS_PER_DAY', String(result.retryAfterMs)];
    case 'balance':
      if (!('heldNanoUsd' in result)) return ['BALANCE'];
      return ['BALANCE', String(result.spendableNanoUsd), String(result.heldNanoUsd)];
    default:
      return [result.reason.toUpperCase()];
  }
}
