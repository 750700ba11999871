import type { Command, ResultOf } from '../command.ts';
import { decideSetAgent } from './agent-status.ts';
import { decideFinish, decideRenew, decideSettle } from './call.ts';
import { decideExpire, decideGrant } from './credit.ts';
import { decideReserve } from './decide-reserve.ts';
import type { Decision } from './decision.ts';
import { decideChangeKey, decidePutKey, decideRevokeKey } from './key.ts';
import { decideMoveIn, decideMoveOut } from './move.ts';
import type { LedgerState } from './state.ts';
import { decideStartUpload } from './upload.ts';
import { decideClaimVideo, decideSubmitVideo, decideWithdrawVideo } from './video.ts';

/**
 * Answers a command from the state and the time alone; changes nothing. All checks come before the first event.
 * `nowMs` never steps back: the engine gives the later of its clock and the last time it gave.
 *
 * Throws only on a caller's bug, such as a negative amount.
 */
export function decide<C extends Command>(
  state: LedgerState,
  command: C,
  nowMs: number,
): Decision<ResultOf<C>>;
export function decide(state: LedgerState, command: Command, nowMs: number): Decision<ResultOf<Command>> {
  switch (command.type) {
    case 'reserve':
      return decideReserve(state, command, nowMs);
    case 'settle':
      return decideSettle(state, command, nowMs);
    case 'renew':
      return decideRenew(state, command, nowMs);
    case 'finish':
      return decideFinish(state, command, nowMs);
    case 'grant':
      return decideGrant(state, command, nowMs);
    case 'expire':
      return decideExpire(state, command, nowMs);
    case 'move_out':
      return decideMoveOut(state, command, nowMs);
    case 'move_in':
      return decideMoveIn(state, command, nowMs);
    case 'put_key':
      return decidePutKey(state, command, nowMs);
    case 'change_key':
      return decideChangeKey(state, command, nowMs);
    case 'revoke_key':
      return decideRevokeKey(state, command, nowMs);
    case 'start_upload':
      return decideStartUpload(state, command, nowMs);
    case 'claim_video':
      return decideClaimVideo(state, command, nowMs);
    case 'submit_video':
      return decideSubmitVideo(state, command, nowMs);
    case 'withdraw_video':
      return decideWithdrawVideo(state, command, nowMs);
    case 'set_agent':
      return decideSetAgent(state, command, nowMs);
    default:
      return command satisfies never;
  }
}
