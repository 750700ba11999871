import { SECOND_MS } from '#core/clock.ts';
import { MCP_BODY_BYTES } from '#core/limits.ts';
import { retryHeaders } from '../contract/error-body.ts';

/** When to retry while a key cannot be checked. */
const MCP_RETRY_MS = 2 * SECOND_MS;

/** What is answered before a tool runs, or instead of it. */
export interface McpAnswer {
  status: number;
  headers: Record<string, string>;
  body: object;
}

/** Spec: MCP HTTP answers. `error` is what their bodies are told apart by. */
const challenge = (error: 'unauthorized' | 'invalid_token', sentence: string): McpAnswer => ({
  status: 401,
  headers: {
    // There is no sign-in: the key is the only way in, so no address of one is named.
    'www-authenticate': `Bearer realm="faregate"${error === 'invalid_token' ? `, error="${error}"` : ''}`,
  },
  body: { error, error_description: sentence },
});

export const mcpAnswers = {
  unauthorized: (sentence: string) => challenge('unauthorized', sentence),
  invalidToken: (sentence: string) => challenge('invalid_token', sentence),
  methodNotAllowed: (): McpAnswer => ({
    ...rpcError(
      405,
      SERVER_ERROR,
      'Every message is a POST: there are no sessions and no streams to listen to.',
    ),
    headers: { allow: 'POST, OPTIONS' },
  }),
  bodyTooLarge: (): McpAnswer =>
    rpcError(413, SERVER_ERROR, `The body is over ${MCP_BODY_BYTES / 1_024} KB; send less in one request.`),
  tooManyRequests: (waitMs: number): McpAnswer => ({
    ...rpcError(
      429,
      SERVER_ERROR,
      `This key makes requests too fast; wait ${Math.ceil(waitMs) / SECOND_MS} seconds before the next.`,
    ),
    headers: retryHeaders(waitMs),
  }),
  temporarilyUnavailable: (): McpAnswer => ({
    status: 503,
    headers: retryHeaders(MCP_RETRY_MS),
    body: {
      error: 'temporarily_unavailable',
      error_description: 'The key could not be checked; try again in a moment.',
    },
  }),
  notJson: (): McpAnswer => rpcError(400, PARSE_ERROR, 'Parse error: the body is not valid JSON in UTF-8.'),
  unreadable: (sentence: string): McpAnswer => rpcError(400, INVALID_REQUEST, sentence),
  batchTooLong: (max: number): McpAnswer =>
    rpcError(400, INVALID_REQUEST, `A batch has at most ${max} messages; each counts as a request.`),
  broken: (): McpAnswer => rpcError(500, INTERNAL_ERROR, 'The service could not finish this right now.'),
} as const;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;
const SERVER_ERROR = -32_000;

const rpcError = (status: number, code: number, message: string): McpAnswer => ({
  status,
  headers: {},
  body: { jsonrpc: '2.0', id: null, error: { code, message } },
});
