import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MINUTE_MS } from '#core/clock.ts';
import { MCP_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import type { RateLimiter } from '#core/rates/rate-limiter.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, isApiError } from '../contract/errors.ts';
import { preflightHeaders } from '../contract/headers.ts';
import { readBody } from '../http/read-body.ts';
import { sendJson, sendText } from '../http/send-json.ts';
import { answerMessages, type ProtocolAnswer } from './answer-messages.ts';
import { buildServer } from './build-server.ts';
import { type McpAnswer, mcpAnswers } from './mcp-answers.ts';
import type { ToolDeps } from './tool.ts';

export interface McpDeps extends ToolDeps {
  authenticate: (req: IncomingMessage) => Promise<Caller | ApiError>;
  /** Of each key. */
  requests: RateLimiter;
}

export type ServeMcp = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** `{mcp_url}`: every message a POST that stands alone. The order of the refusals is that of the lines. */
export function createServeMcp(deps: McpDeps): ServeMcp {
  return async (req, res) => {
    if (req.method === 'OPTIONS') {
      res.writeHead(204, mcpPreflightHeaders(req)).end();
      return;
    }
    try {
      const answer = await answerRequest(deps, req, res);
      if (answer !== 'aborted') send(res, answer);
    } catch (error) {
      deps.log.error('request failed', { path: 'mcp', error });
      send(res, mcpAnswers.broken());
    }
  };
}

async function answerRequest(
  deps: McpDeps,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<McpAnswer | ProtocolAnswer | 'aborted'> {
  // Before the key: clients of 2025 try a GET after each beginning, and take only this for "there is no stream".
  if (req.method !== 'POST') return mcpAnswers.methodNotAllowed();
  const caller = await deps.authenticate(req);
  if (isApiError(caller)) return refuseKey(caller, req);
  const refused = await charge(deps, caller, 1);
  if (refused !== null) return refused;
  const body = await readBody(req, res, MCP_BODY_BYTES);
  if (body === 'aborted') return body;
  if (isApiError(body)) return refuseBody(body);
  const message = isUtf8(body) ? parseJson(body.toString('utf8')) : undefined;
  if (message === undefined) return mcpAnswers.notJson();
  const messages = Array.isArray(message) ? message.length : 1;
  const refusedBatch = messages > 1 ? await chargeBatch(deps, caller, messages) : null;
  if (refusedBatch !== null) return refusedBatch;
  const answer = await answerMessages(() => buildServer(deps, caller), req.headers, message);
  if (answer.fault !== null) deps.log.error('request failed', { path: 'mcp', error: answer.fault });
  return answer;
}

/** Each message counts: one body would else carry a hundred. The first one was charged before the body was read. */
async function chargeBatch(deps: McpDeps, caller: Caller, messages: number): Promise<McpAnswer | null> {
  const { mcpBurst, mcpRequestsPerMinute } = deps.account.limits();
  if (messages > mcpBurst) return mcpAnswers.batchTooLong(mcpBurst);
  // Whoever comes again is charged for the first one again.
  return charge(deps, caller, messages - 1, MINUTE_MS / mcpRequestsPerMinute);
}

/** Spec: Limits, MCP requests. */
async function charge(
  { requests, account }: McpDeps,
  { keyId }: Caller,
  messages: number,
  moreMs = 0,
): Promise<McpAnswer | null> {
  const waitMs = await requests.take(keyId, messages);
  if (waitMs === 0) return null;
  if (waitMs === 'unavailable') return mcpAnswers.temporarilyUnavailable();
  return Number.isFinite(waitMs)
    ? mcpAnswers.tooManyRequests(waitMs + moreMs)
    : mcpAnswers.batchTooLong(account.limits().mcpBurst);
}

function refuseKey({ code, message }: ApiError, req: IncomingMessage): McpAnswer {
  if (code !== 'invalid_api_key') return mcpAnswers.temporarilyUnavailable();
  return sendsKey(req) ? mcpAnswers.invalidToken(message) : mcpAnswers.unauthorized(message);
}

/** A variable that nobody filled leaves a header, and no key in it. */
const sendsKey = ({ headers }: IncomingMessage): boolean =>
  /^(?!bearer\s*$)\s*\S/i.test(headers.authorization ?? '') || /\S/.test(String(headers['x-api-key'] ?? ''));

const refuseBody = ({ code, message }: ApiError): McpAnswer =>
  code === 'request_too_large' ? mcpAnswers.bodyTooLarge() : mcpAnswers.unreadable(message);

function send(res: ServerResponse, answer: McpAnswer | ProtocolAnswer): void {
  if ('headers' in answer) {
    sendJson(res, answer.status, { ...ALWAYS, ...answer.headers }, answer.body);
    return;
  }
  const { status, contentType, body } = answer;
  if (contentType === null) res.writeHead(status, { ...ALWAYS, 'content-length': '0' }).end();
  else sendText(res, status, { ...ALWAYS, 'content-type': contentType }, body);
}

/**
 * Any origin may call: a page has only the key that its user gave it, and no cookie counts here. On every answer, refusals
 * too, because a page sees nothing of an answer without them.
 */
const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'www-authenticate, retry-after, retry-after-ms',
};

function mcpPreflightHeaders({ headers }: IncomingMessage): Record<string, string> {
  // Each by its name, because a `*` leaves out `authorization`.
  const allowed = headers['access-control-request-headers'] ?? ALLOWED_HEADERS;
  return {
    ...corsHeaders,
    ...preflightHeaders(METHODS, allowed, 7_200),
    vary: 'access-control-request-headers',
  };
}

/** Methods that are refused are among them, so that a page sees the 405 and not a broken network. */
const METHODS = 'POST, GET, DELETE, OPTIONS';

const ALLOWED_HEADERS =
  'authorization, x-api-key, content-type, accept, mcp-protocol-version, mcp-method, mcp-name';

const ALWAYS = { ...corsHeaders, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
