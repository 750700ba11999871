import type { IncomingMessage, RequestListener } from 'node:http';
import type { AnyTRPCRouter, inferRouterContext } from '@trpc/server';
import type { IRouter, RequestHandler } from 'express';
import { type CallContext, type Method, type Route, readRoutes } from '../contract/route.ts';
import type { Edge } from './edge.ts';
import { servePlain } from './serve-plain.ts';
import { servePublic } from './serve-public.ts';
import { serveRaw } from './serve-raw.ts';

export interface HotRoutes {
  /** By method and path, as `POST /v1/chat/completions`; `null`: a cold one. */
  exact: Map<string, RequestListener | null>;
  /** Whose path ends with its only parameter, by what stands before it: `GET /v1/videos/`. */
  below: Map<string, RequestListener>;
}

/**
 * Mounts every procedure of a router at its route: the one way onto the wire. So nothing is served that is
 * not in the router, and nothing of the router is missing from the document. `mountNotFound` goes after the
 * last one. Answers the raw routes, for `serveHotFirst`.
 */
export function mountRouter<R extends AnyTRPCRouter>(
  app: IRouter,
  router: R,
  edge: Edge<inferRouterContext<R>>,
): HotRoutes {
  type Context = inferRouterContext<R>;
  const routes = readRoutes<Context['deps'], Context['caller']>(router);
  const hot: HotRoutes = { exact: new Map(), below: new Map() };
  for (const route of routes.sort(staticFirst)) {
    const { method } = route.facts;
    const path = edge.basePath + route.facts.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const serve = rawServer(route, edge);
    mount(app, method, path, serve ?? servePlain(route, edge));
    if (!path.includes(':')) hot.exact.set(`${method} ${path}`, serve);
    else if (serve !== null && path.indexOf(':') === path.lastIndexOf('/') + 1) {
      hot.below.set(`${method} ${path.slice(0, path.indexOf(':'))}`, serve);
    }
  }
  return hot;
}

/** `null`: a cold route. */
function rawServer<Deps, Caller extends object>(
  { facts, handler, publicHandler }: Route<Deps, Caller>,
  edge: Edge<CallContext<Deps, Caller>>,
) {
  if (publicHandler !== null) return servePublic(facts, publicHandler, edge);
  return handler === null ? null : serveRaw(facts, handler, edge);
}

/**
 * Express changes the prototype of every request and answer, which makes all that follows slower: a tenth of a
 * small call's CPU. Hot routes are matched before it; with a query string they come to the same handler through it.
 */
export const serveHotFirst =
  (hot: HotRoutes, app: RequestListener): RequestListener =>
  (req, res) => {
    const serve = hot.exact.get(`${req.method} ${req.url}`) ?? hotBelow(hot, req);
    if (serve === undefined) app(req, res);
    else serve(req, res);
  };

/** A last step of letters, digits and underscores alone: nothing in it is to be decoded, and no query follows. */
const LAST_STEP = /^(.*\/)\w+$/;

function hotBelow({ exact, below }: HotRoutes, { method, url = '' }: IncomingMessage) {
  const route = `${method} ${url}`;
  const [, parent] = exact.has(route) ? [] : (LAST_STEP.exec(route) ?? []);
  return parent === undefined ? undefined : below.get(parent);
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
