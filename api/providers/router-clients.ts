import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a client reads usage in every stream without asking for it. OpenRouter sends it always, and clients that are made for it
 * name it: `ai-sdk/openrouter/3.1.0`, `speakeasy-sdk/typescript … @openrouter/sdk`, `speakeasy-sdk/python … openrouter`.
 */
export const readsUsage = ({ 'user-agent': userAgent = '' }: IncomingHttpHeaders): boolean =>
  userAgent.toLowerCase().includes('openrouter');
