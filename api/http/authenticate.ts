import type { IncomingMessage } from 'node:http';
import { checkApiKeyShape, hashApiKey, type Pepper } from '#core/accounts/api-key.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { KNOWN_KEYS_MAX } from '#core/limits.ts';
import { setBounded } from '#core/set-bounded.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';

export interface KeyCheck extends Pick<Ledger, 'findKey' | 'recallKey'> {
  /** Newest first; a second one while keys of the older are still in use. */
  peppers: readonly Pepper[];
}

export interface Authentication {
  /**
   * The caller by its key. Asked anew, so a revoked key stops on its next request; a ledger that cannot answer is
   * `service_unavailable`, because 401 would make clients throw a good key away.
   */
  authenticate(req: IncomingMessage): Promise<Caller | ApiError>;
  /** As it was some seconds ago, for a start, whose reserve asks anew. `null`: it has to be asked for. */
  recall(req: IncomingMessage): Caller | null;
}

export function createAuthenticate({ findKey, recallKey, peppers }: KeyCheck): Authentication {
  // Of keys that were found: the shape and the HMAC are the dearest steps of a small call, and always the same.
  const known = new Map<string, readonly string[]>();
  const authenticate = async (req: IncomingMessage): Promise<Caller | ApiError> => {
    const key = readApiKey(req.rawHeaders);
    if (isApiError(key)) return key;
    const hashed = known.get(key.text);
    if (hashed === undefined && !checkApiKeyShape(key.text)) {
      return refuse('Invalid API key: it is truncated, mistyped, or issued by another service.');
    }
    const hashes = hashed ?? peppers.map((pepper) => hashApiKey(key.text, pepper));
    const owner = await findKey(hashes);
    if (owner === 'unavailable') return apiError('service_unavailable');
    if (!owner.found) return refuse('No such API key.');
    if (owner.revoked) return refuse('This API key was revoked; use another.');
    if (hashed === undefined) setBounded(known, key.text, hashes, KNOWN_KEYS_MAX);
    return { agentId: owner.agentId, keyId: owner.keyId, agentStatus: owner.agentStatus };
  };
  const recall = (req: IncomingMessage): Caller | null => {
    const key = readApiKey(req.rawHeaders);
    const hashes = isApiError(key) ? undefined : known.get(key.text);
    const owner = hashes === undefined ? null : recallKey(hashes);
    return owner === null ? null : { agentId: owner.agentId, keyId: owner.keyId, agentStatus: 'active' };
  };
  return { authenticate, recall };
}

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Spec: Authentication 1. From the raw headers, because Node keeps only the first of two Authorization
 * headers: a proxy before us may have looked at the second.
 */
export function readApiKey(rawHeaders: readonly string[]): { text: string } | ApiError {
  let authorization: string | undefined;
  let apiKey: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase();
    if (name === 'authorization') {
      if (authorization !== undefined)
        return refuse('The Authorization header was sent twice; send it once.');
      authorization = rawHeaders[i + 1];
    } else if (name === 'x-api-key') {
      if (apiKey !== undefined) return refuse('The x-api-key header was sent twice; send it once.');
      apiKey = rawHeaders[i + 1];
    }
  }
  if (authorization === undefined) return apiKey ? { text: apiKey } : apiError('invalid_api_key');
  const bearer = BEARER.exec(authorization)?.[1];
  if (bearer === undefined) return refuse('The Authorization header has to be "Bearer <key>".');
  if (apiKey !== undefined && apiKey !== bearer) {
    return refuse('Authorization and x-api-key carry two different keys; send one.');
  }
  return { text: bearer };
}

const refuse = (message: string): ApiError => apiError('invalid_api_key', { message });
