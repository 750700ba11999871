import { z } from 'zod';
import { isLabel } from '../label.ts';
import { fedAgentId } from './fed-agent-id.ts';

export const AGENTS_TOPIC = 'agents.v1';

/** A record of `agents.v1`, keyed by its agent: a launch, an activation, a suspension, a token. */
export const agentChange = z.strictObject({
  v: z.literal(1),
  type: z.literal('agent_set'),
  agentId: fedAgentId,
  /** Who says it. Each source has a say of its own: a suspension from any wins, else one `active` is enough. */
  source: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  /** Of this source for this agent; what is not above the last one is old, and ignored. */
  version: z.int().nonnegative(),
  status: z.enum(['inactive', 'active', 'suspended']),
  name: z.string().refine(isLabel, 'is no single line of at most 60 characters'),
  /** `null`: an account. */
  token: z.string().min(1).max(128).nullable(),
});
