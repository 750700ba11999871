import type {
  ChangedSince,
  ChangeKey,
  ChangeKeyResult,
  RevokeKey,
  RevokeKeyResult,
} from '../ledger/command.ts';
import type { Ledger, UnavailableResult } from '../ledger/ledger.ts';
import { executeDurably } from './execute-durably.ts';

/** Each further attempt means that somebody else has changed the key meanwhile. */
const ATTEMPTS = 20;

type KeyLedger = Pick<Ledger, 'execute' | 'readAgent'>;
type ChangeAnswer = Exclude<ChangeKeyResult, ChangedSince> | UnavailableResult;
type RevokeAnswer = Exclude<RevokeKeyResult, ChangedSince> | UnavailableResult;

/**
 * Changes a key as it is when it is read here. Where it has changed meanwhile, it is read again and the change is tried
 * again. A command of an earlier request, which was given up and arrives late, therefore cannot undo a newer change.
 */
export const changeKey = (
  ledger: KeyLedger,
  change: Omit<ChangeKey, 'type' | 'readVersion'>,
): Promise<ChangeAnswer> =>
  asRead<ChangeAnswer>(ledger, change, (readVersion) =>
    executeDurably(ledger, { type: 'change_key', ...change, readVersion }),
  );

/** Revokes a key as it is when it is read here, as `changeKey` changes one. */
export const revokeKey = (
  ledger: KeyLedger,
  revocation: Omit<RevokeKey, 'type' | 'readVersion'>,
): Promise<RevokeAnswer> =>
  asRead<RevokeAnswer>(ledger, revocation, (readVersion) =>
    executeDurably(ledger, { type: 'revoke_key', ...revocation, readVersion }),
  );

async function asRead<A extends { ok: boolean }>(
  ledger: KeyLedger,
  { agentId, keyId }: { agentId: number; keyId: number },
  send: (readVersion: number) => Promise<A | ChangedSince>,
): Promise<A | UnavailableResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const agent = await ledger.readAgent(agentId);
    if (agent === 'unavailable') return { ok: false, reason: 'unavailable' };
    // The step itself refuses a key that is not there.
    const result = await send(agent?.keys.find((key) => key.keyId === keyId)?.version ?? 0);
    if (!isChangedSince(result)) return result;
  }
  return { ok: false, reason: 'unavailable' };
}

const isChangedSince = (result: object): result is ChangedSince =>
  'reason' in result && result.reason === 'changed_since';
