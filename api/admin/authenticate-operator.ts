import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '#core/secret.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { Operator } from './context.ts';

/** A client's word for who sends the request; the token is what opens. */
export const OPERATOR_HEADER = 'x-operator';
export const OPERATOR_NAME = /^[\w.@+-]{1,60}$/;
const BEARER = /^Bearer +(\S+)$/i;

/** The one who holds the admin token. */
export function createAuthenticateOperator(token: Secret) {
  const expected = digest(token.reveal());
  return async (req: IncomingMessage): Promise<Operator | ApiError> => {
    // All of them: Node keeps only the first, and a proxy before us may have looked at another.
    const sent = req.headersDistinct.authorization ?? [];
    const bearer = sent.length === 1 ? BEARER.exec(sent[0] ?? '')?.[1] : undefined;
    if (bearer === undefined || !timingSafeEqual(digest(bearer), expected)) return apiError(...REFUSAL);
    return { name: nameOf(req), address: req.socket.remoteAddress ?? 'unknown' };
  };
}

/** Of the user who runs the command. Anything else than a plain name is not written down. */
function nameOf({ headers }: IncomingMessage): string {
  const named = headers[OPERATOR_HEADER];
  return typeof named === 'string' && OPERATOR_NAME.test(named) ? named : NAMELESS;
}

const NAMELESS = 'operator';

const REFUSAL = [
  'invalid_api_key',
  { message: 'Send the admin token, once, as "Authorization: Bearer <token>".' },
] as const;

/** Of one length for any text, and no use to somebody who measures how far two of them agree. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
