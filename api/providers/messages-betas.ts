import type { IncomingHttpHeaders } from 'node:http';

/**
 * Betas of the messages format that a caller may switch on, as one header; `null`: none. Others are left out: some change
 * prices, some reach what is kept for the account that all agents share, some bring tools that nobody has bounded.
 */
export function allowedBetas(headers: IncomingHttpHeaders): string | null {
  const given = [headers['anthropic-beta'], headers['x-anthropic-beta']].filter((each) => each !== undefined);
  if (given.length === 0) return null;
  const asked = given.join(',').split(',');
  const allowed = ALLOWED.filter((beta) => asked.some((each) => each.trim() === beta));
  return allowed.length === 0 ? null : allowed.join(',');
}

/** Tells a server of the messages format which betas are switched on. */
export const betaHeaders = (betas: string): Readonly<Record<string, string>> => ({ 'anthropic-beta': betas });

/** Fields that come with them pass by rules of their own: of `context_management`, edits that only clear. */
const ALLOWED = [
  'interleaved-thinking-2025-05-14',
  'structured-outputs-2025-11-13',
  'context-management-2025-06-27',
  'effort-2025-11-24',
];
