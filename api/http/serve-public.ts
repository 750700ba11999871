import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiError } from '../contract/errors.ts';
import { preflightHeaders } from '../contract/headers.ts';
import {
  type CallContext,
  type PublicCallContext,
  type PublicHandler,
  type RouteFacts,
  shapeOfPath,
} from '../contract/route.ts';
import { traceOf } from '../contract/trace-id.ts';
import type { Edge } from './edge.ts';
import { renderError } from './render-error.ts';

/**
 * A route for anybody. No key is looked at, so none can be wrong; pages of other origins may read it, too. It answers at once
 * where it can: a promise for each request would be a part of a small answer's cost.
 */
export function servePublic<Deps, Caller extends object>(
  { path, operationId }: RouteFacts,
  handler: PublicHandler<Deps>,
  edge: Edge<CallContext<Deps, Caller>>,
) {
  const shape = shapeOfPath(path);
  const { deps, callIdHeader } = edge;
  const fail = (call: PublicCallContext<Deps>, error: unknown): void => {
    edge.log.error('request failed', { callId: call.callId, ...traceOf(call.req), path: operationId, error });
    renderError(call.res, apiError('gateway_error'), call);
  };
  return (req: IncomingMessage, res: ServerResponse): void => {
    const call = { deps, shape, callId: edge.ids.next(), callIdHeader, isPublic: true, req, res } as const;
    try {
      const done = handler(call);
      if (done instanceof Promise) done.catch((error: unknown) => fail(call, error));
    } catch (error) {
      fail(call, error);
    }
  };
}

/** Answers the preflight of a browser, which asks before a page may send more than a plain request, such as a key. */
export function servePreflight(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(204, preflightHeaders).end();
}
