import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import {
  type CallContext,
  hasBody,
  type RawHandler,
  type RouteFacts,
  shapeOfPath,
} from '../contract/route.ts';
import { traceOf } from '../contract/trace-id.ts';
import type { Edge } from './edge.ts';
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
