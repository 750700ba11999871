import type { AnyTRPCRouter, inferRouterContext } from '@trpc/server';
import type { IRouter, RequestHandler } from 'express';
import { type Method, type Route, readRoutes } from '../contract/route.ts';
import type { Edge } from './edge.ts';
import { servePlain } from './serve-plain.ts';
import { serveRaw } from './serve-raw.ts';

/**
 * Mounts every procedure of a router at its route: the one way onto the wire. So nothing is served that is
 * not in the router, and nothing of the router is missing from the document. `mountNotFound` goes after the
 * last one.
 */
export function mountRouter<R extends AnyTRPCRouter>(
  app: IRouter,
  router: R,
  edge: Edge<inferRouterContext<R>>,
): void {
  type Context = inferRouterContext<R>;
  const routes = readRoutes<Context['deps'], Context['caller']>(router);
  for (const route of routes.sort(staticFirst)) {
    const path = edge.basePath + route.facts.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const serve =
      route.handler === null ? servePlain(route, edge) : serveRaw(route.facts, route.handler, edge);
    mount(app, route.facts.method, path, serve);
  }
}

function mount(app: IRouter, method: Method, path: string, serve: RequestHandler): void {
  switch (method) {
    case 'GET':
      app.get(path, serve);
      return;
    case 'POST':
      app.post(path, serve);
      return;
    case 'PATCH':
      app.patch(path, serve);
      return;
    case 'PUT':
      app.put(path, serve);
      return;
    case 'DELETE':
      app.delete(path, serve);
      return;
    default:
      method satisfies never;
  }
}

/** `/videos/models` before `/videos/{id}`: the first match serves. */
function staticFirst(a: Pick<Route<never, never>, 'facts'>, b: Pick<Route<never, never>, 'facts'>): number {
  const others = b.facts.path.split('/');
  for (const [index, segment] of a.facts.path.split('/').entries()) {
    const other = others[index] ?? '';
    if (segment === other) continue;
    return Number(segment.startsWith('{')) - Number(other.startsWith('{'));
  }
  return 0;
}
