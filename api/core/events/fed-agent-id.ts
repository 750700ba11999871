import { z } from 'zod';
import { AGENT_ID_MAX } from '../limits.ts';

/** An agent as another system names it: one that nobody has announced is made. */
export const fedAgentId = z.int().positive().max(AGENT_ID_MAX);
