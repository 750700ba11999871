import { z } from 'zod';

/**
 * The largest agent id that a feed may name. Redis scripts print numbers with fourteen digits, so it leaves
 * them room.
 */
export const AGENT_ID_MAX = 999_999_999_999;

/** An agent as another system names it: one that nobody has announced is made. */
export const fedAgentId = z.int().positive().max(AGENT_ID_MAX);
