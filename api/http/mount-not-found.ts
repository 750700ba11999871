import type { IRouter, NextFunction, Request, Response } from 'express';
import { type ApiError, apiError, type ErrorShape } from '../contract/errors.ts';
import { shapeOfPath } from '../contract/route.ts';
import type { Edge } from './mount-router.ts';
import { renderError } from './render-error.ts';

type NotFoundEdge = Pick<Edge, 'basePath' | 'ids' | 'callIdHeader' | 'log'>;

/**
 * After everything else: any other path or method is `not_found`, OPTIONS and undecodable paths too (spec:
 * Endpoints). On the same router as the routes, because Express answers OPTIONS itself when a router ends.
 *
 * @param served What the refusal may point to, as `POST /v1/chat/completions`.
 */
export function mountNotFound(app: IRouter, edge: NotFoundEdge, served: readonly string[] = []): void {
  const render = (req: Request, res: Response) => {
    const shape = shapeOf(req.path, edge.basePath);
    renderError(res, notFound(nearServed(req.path, served, edge.basePath)), {
      ...{ shape, callId: edge.ids.next(), callIdHeader: edge.callIdHeader },
      // Below the markets all is for pages of any origin, and they are to see that there is nothing. No preflight passes.
      ...(shape === 'market' && req.method !== 'OPTIONS' ? { isPublic: true } : {}),
    });
  };
  app.use(render);
  // Express takes a handler with four parameters for an error handler.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    if (!(error instanceof URIError)) edge.log.error('request failed', { path: 'unmatched', error });
    render(req, res);
  });
}

const notFound = (near: string | null): ApiError =>
  near === null
    ? apiError('not_found')
    : apiError('not_found', {
        message: `Nothing is served at this path and method, but \`${near}\` is; check the base URL of your client.`,
      });

function shapeOf(path: string, basePath: string): ErrorShape {
  return path.startsWith(basePath) ? shapeOfPath(path.slice(basePath.length)) : 'chat';
}

/**
 * What is served at the end of a path that is not: clients of some formats add `/v1` to their base URL, others want it
 * there, and which one is at hand is the first thing that newcomers get wrong. `null`: nothing like it is served.
 *
 * @param served As `POST /v1/chat/completions`.
 */
function nearServed(path: string, served: readonly string[], basePath: string): string | null {
  const asked = segmentsOf(path);
  let nearest: string | null = null;
  for (const route of served) {
    const wanted = segmentsOf(route.slice(route.indexOf(' ') + 1 + basePath.length));
    const isEnd = wanted.every((segment, index) => asked[asked.length - wanted.length + index] === segment);
    if (isEnd && route.length > (nearest?.length ?? 0)) nearest = route;
  }
  return nearest;
}

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '');
