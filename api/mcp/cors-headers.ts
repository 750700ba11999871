import type { IncomingMessage } from 'node:http';

/**
 * Any origin may call: a page has only the key that its user gave it, and no cookie counts here. On every answer, refusals
 * too, because a page sees nothing of an answer without them.
 */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'www-authenticate, retry-after, retry-after-ms',
};

/** The methods that are refused as well: a page is to see the 405, not a broken network. */
export function preflightHeaders({ headers }: IncomingMessage): Record<string, string> {
  return {
    ...corsHeaders,
    'access-control-allow-methods': 'POST, GET, DELETE, OPTIONS',
    // By name: for a key in `authorization` a `*` does not count.
    'access-control-allow-headers': headers['access-control-request-headers'] ?? ALLOWED_HEADERS,
    'access-control-max-age': '7200',
    vary: 'access-control-request-headers',
  };
}

const ALLOWED_HEADERS =
  'authorization, x-api-key, content-type, accept, mcp-protocol-version, mcp-method, mcp-name';
