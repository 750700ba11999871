import type { CreateKeyResult } from '#core/accounts/create-key.ts';
import type { GrantCreditResult } from '#core/accounts/grant-credit.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import { BALANCE_CAP_NANO_USD, type Limits } from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import { type ApiError, answerOrRefuse, apiError } from '../contract/errors.ts';

export const unknownAgent = (agentId: number): ApiError =>
  apiError('not_found', { message: `There is no agent ${agentId}.` });

export const unknownKey = (agentId: number, keyId: number): ApiError =>
  apiError('not_found', { message: `Agent ${agentId} has no key ${keyId}.` });

export const revokedKey = (keyId: number): ApiError =>
  apiError('invalid_request', { message: `Key ${keyId} is revoked: it cannot be changed any more.` });

export const unavailable = (
  message = 'The ledger does not answer now, or not for sure; see /readyz, and look before you try again.',
): ApiError => apiError('service_unavailable', { message });

export const marketsOff = (): ApiError =>
  apiError('not_found', { message: 'There are no markets here: the configuration says `market: off`.' });

/** The agent as the ledger has it now; a procedure of one that is not there is refused. */
export async function readAgent(ledger: Pick<Ledger, 'readAgent'>, agentId: number): Promise<AgentView> {
  const view = await ledger.readAgent(agentId);
  return answerOrRefuse(view === 'unavailable' ? unavailable() : (view ?? unknownAgent(agentId)));
}

type Refused<R> = R extends { ok: false; reason: infer Reason } ? Reason : never;

export function grantRefusal(reason: Refused<GrantCreditResult>, agentId: number): ApiError {
  switch (reason) {
    case 'unknown_agent':
      return unknownAgent(agentId);
    case 'over_cap':
      return apiError('invalid_request', {
        param: 'usd',
        message: `The balance would pass its cap of $${formatUsd(BALANCE_CAP_NANO_USD)}.`,
      });
    case 'unavailable':
      return unavailable();
    default:
      return reason satisfies never;
  }
}

export function keyRefusal(reason: Refused<CreateKeyResult>, agentId: number, limits: Limits): ApiError {
  switch (reason) {
    case 'unknown_agent':
      return unknownAgent(agentId);
    case 'too_many_active_keys':
      return apiError('invalid_request', {
        message: `Agent ${agentId} already has ${limits.activeKeys} active keys; revoke one first.`,
      });
    case 'unavailable':
    case 'id_taken':
    case 'hash_taken':
    case 'changed_since':
      return unavailable();
    case 'key_revoked':
    case 'agent_not_active':
    case 'too_many_mcp_keys':
    case 'acting_key_revoked':
    case 'acting_key_limited':
      throw new Error(`The ledger refused an operator's new key: ${reason}.`);
    default:
      return reason satisfies never;
  }
}
