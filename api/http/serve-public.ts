import type { IncomingMessage, ServerResponse } from 'node:http';
import { apiError } from '../contract/errors.ts';
import { type CallContext, type PublicHandler, type RouteFacts, shapeOfPath } from '../contract/route.ts';
import type { Edge } from './edge.ts';
import { renderError } from './render-error.ts';

/** A route for anybody. No key is looked at, so none can be wrong; pages of other origins may read it, too. */
export function servePublic<Deps, Caller extends object>(
  { path, operationId }: RouteFacts,
  handler: PublicHandler<Deps>,
  edge: Edge<CallContext<Deps, Caller>>,
) {
  const shape = shapeOfPath(path);
  const { deps, callIdHeader } = edge;
  return (req: IncomingMessage, res: ServerResponse): void => {
    const callId = edge.ids.next();
    const facts = { shape, callId, callIdHeader };
    res.setHeader('access-control-allow-origin', '*');
    try {
      handler({ deps, ...facts, req, res });
    } catch (error) {
      edge.log.error('request failed', { callId, path: operationId, error });
      renderError(res, apiError('gateway_error'), facts);
    }
  };
}
