import { z } from 'zod';
import { GRANT_ID_CHARS_MAX } from '../limits.ts';
import { parseNanoUsd } from '../money.ts';
import { fedAgentId } from './fed-agent-id.ts';

export const CREDIT_GRANTS_TOPIC = 'credit.grants.v1';

/**
 * A record of `credit.grants.v1`, keyed by its agent: credit from trading fees, purchases, the operator. An agent that
 * nobody has announced is made, inactive.
 */
export const creditGrant = z.strictObject({
  v: z.literal(1),
  type: z.literal('credit_granted'),
  /** The same id again books nothing. */
  grantId: z.string().min(1).max(GRANT_ID_CHARS_MAX),
  agentId: fedAgentId,
  /** Dollars, at most nine digits after the point. */
  usd: z.string().transform((text, context) => {
    const nanoUsd = /^\d{1,7}(\.\d{1,9})?$/.test(text) ? parseNanoUsd(text) : null;
    if (nanoUsd !== null && nanoUsd > 0n) return nanoUsd;
    context.addIssue('is no amount of dollars above 0');
    return z.NEVER;
  }),
  /**
   * Decides when the credit ends: on day D, it ends at D+8 00:00 UTC. So a record that is read again when its id is
   * forgotten names a day that has ended.
   */
  grantedAt: z.iso.datetime().transform((text) => Date.parse(text)),
});
