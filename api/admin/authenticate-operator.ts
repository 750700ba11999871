import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '#core/secret.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { Operator } from './context.ts';

const BEARER = /^Bearer +(\S+)$/i;

/** The one who holds the admin token. */
export function createAuthenticateOperator(token: Secret) {
  const expected = digest(token.reveal());
  return async (req: IncomingMessage): Promise<Operator | ApiError> => {
    // All of them: Node keeps only the first, and a proxy before us may have looked at another.
    const sent = req.headersDistinct.authorization ?? [];
    const bearer = sent.length === 1 ? BEARER.exec(sent[0] ?? '')?.[1] : undefined;
    if (bearer === undefined || !timingSafeEqual(digest(bearer), expected)) return apiError(...REFUSAL);
    return { name: 'operator', address: req.socket.remoteAddress ?? 'unknown' };
  };
}

const REFUSAL = [
  'invalid_api_key',
  { message: 'Send the admin token, once, as "Authorization: Bearer <token>".' },
] as const;

/** Of one length for any text, and no use to somebody who measures how far two of them agree. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
