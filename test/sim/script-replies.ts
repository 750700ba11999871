import type { ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';

/**
 * What a script answers for a result: the way back from `toResult`. `place`: of the event, or of the shard's latest
 * where nothing new happened. `restsOn`: what a refusal waits for.
 */
export function toReply(
  command: Command,
  result: ResultOf<Command>,
  place: string,
  lagMs: number,
  restsOn: string,
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
      return ['AGENT', restsOn, 'inactive'];
    case 'agent_suspended':
      return ['AGENT', restsOn, 'suspended'];
    case 'rate':
      return ['RATE', restsOn, String(result.retryAfterMs)];
    case 'video_exists':
      return ['VIDEO_EXISTS', place, result.videoId];
    case 'open_videos':
      return ['OPEN_VIDEOS', restsOn, String(result.openVideos)];
    case 'storage_full':
      return ['STORAGE_FULL', restsOn, String(result.retryAfterMs)];
    case 'claimed':
    case 'submitted':
    case 'not_claimed':
      return [result.reason.toUpperCase(), place];
    case 'running_calls':
      return ['RUNNING', restsOn, result.runningCalls];
    case 'daily_share':
      return ['DAILY_SHARE', restsOn, String(result.resetsAtMs)];
    case 'key_limit':
      return [
        'KEY_LIMIT',
        restsOn,
        String(result.remainingNanoUsd),
        String(result.heldNanoUsd),
        String(result.limitNanoUsd),
        String(result.resetsAtMs),
      ];
    case 'uploads_per_day':
      return ['UPLOADS_PER_DAY', restsOn, String(result.retryAfterMs)];
    case 'balance':
      if (!('heldNanoUsd' in result)) return ['BALANCE', restsOn];
      return ['BALANCE', restsOn, String(result.spendableNanoUsd), String(result.heldNanoUsd)];
    default:
      return [result.reason.toUpperCase(), restsOn];
  }
}
