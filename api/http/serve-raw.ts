import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import { preflightHeaders } from '../contract/headers.ts';
import {
  type CallContext,
  hasBody,
  type PublicHandler,
  type RawHandler,
  type RouteFacts,
  shapeOfPath,
} from '../contract/route.ts';
import { traceOf } from '../contract/trace-id.ts';
import type { Edge } from './mount-router.ts';
import { readBody } from './read-body.ts';
import { renderError } from './render-error.ts';

const NO_BODY = Buffer.alloc(0);

/**
 * A hot route: key, then the bucket of refused starts, then body, then the handler with the bytes as sent. No refusal
 * hides that the key has ended since it was last asked for.
 */
export function serveRaw<Deps, Caller extends object>(
  { method, path, operationId, reserves }: RouteFacts,
  handler: RawHandler<Deps, Caller>,
  edge: Edge<CallContext<Deps, Caller>>,
) {
  const shape = shapeOfPath(path);
  const { deps, callIdHeader } = edge;
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const callId = edge.ids.next();
    const facts = { shape, callId, callIdHeader };
    try {
      const recalled = reserves === true ? edge.recall(req) : null;
      const caller = recalled ?? (await edge.authenticate(req));
      if (isApiError(caller)) return renderError(res, caller, facts);
      const confirmCaller = async () => (recalled === null ? caller : edge.authenticate(req));
      const refuse = async (error: ApiError): Promise<void> => {
        const now = await confirmCaller();
        renderError(res, isApiError(now) ? now : error, facts);
      };
      const refusal = hasBody(method) ? edge.admitStart(caller) : null;
      if (refusal !== null) return await refuse(refusal);
      const body = hasBody(method) ? await readBody(req, res, edge.bodyBytesMax()) : NO_BODY;
      if (body === 'aborted') return;
      if (isApiError(body)) return await refuse(body);
      const context = { deps, caller, confirmCaller, callId, callIdHeader, shape, body, req, res };
      const refused = await handler(context);
      if (refused !== null) renderError(res, refused, facts);
    } catch (error) {
      edge.log.error('request failed', { callId, ...traceOf(req), path: operationId, error });
      renderError(res, apiError('gateway_error'), facts);
    }
  };
}

/** A route for anybody. It ignores the key, so a wrong one is no mistake, and pages of other origins may read it, too. */
export function servePublic<Deps, Caller extends object>(
  { path, operationId }: RouteFacts,
  handler: PublicHandler<Deps>,
  edge: Edge<CallContext<Deps, Caller>>,
) {
  const shape = shapeOfPath(path);
  const { deps, callIdHeader } = edge;
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const callId = edge.ids.next();
    const call = { deps, shape, callId, callIdHeader, isPublic: true, req, res } as const;
    try {
      await handler(call);
    } catch (error) {
      edge.log.error('request failed', { callId, ...traceOf(req), path: operationId, error });
      renderError(res, apiError('gateway_error'), call);
    }
  };
}

/** Answers the preflight of a browser, which asks before a page may send more than a plain request, such as a key. */
export function servePreflight(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(204, PREFLIGHT_HEADERS).end();
}

/** A key is named because `*` leaves out `authorization`: a page that sends one along gets its answer all the same. */
const PREFLIGHT_HEADERS = preflightHeaders('GET', '*, authorization, x-api-key', 86_400);
