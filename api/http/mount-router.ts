import type { IncomingMessage, RequestListener } from 'node:http';
import type { AnyTRPCRouter, inferRouterContext } from '@trpc/server';
import express, { type Express, type IRouter } from 'express';
import type { IdSource } from '#core/ids.ts';
import type { Log } from '#core/log.ts';
import type { ApiError } from '../contract/errors.ts';
import { type CallContext, type Method, type Route, readRoutes } from '../contract/route.ts';
import { servePlain } from './serve-plain.ts';
import { servePreflight, servePublic, serveRaw } from './serve-raw.ts';

/** By method: one name of both would be a new string for each request. */
export type HotRoutes = Map<string, HotPaths>;

interface HotPaths {
  /** By path, as `/v1/chat/completions`; `null`: a cold one. */
  exact: Map<string, RequestListener | null>;
  /** Whose path ends with its only parameter, by what stands before it: `/v1/videos/`. */
  below: Map<string, RequestListener>;
  /** Whose only parameter is the last step but one: what stands before it, and the last, such as `/content`. */
  around: { before: string; step: string; serve: RequestListener }[];
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
  const hot: HotRoutes = new Map();
  for (const route of routes.sort(staticFirst)) {
    const { method } = route.facts;
    const path = edge.basePath + route.facts.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const serve = rawServer(route, edge);
    app[VERBS[method]](path, serve ?? servePlain(route, edge));
    if (route.publicHandler !== null) app.options(path, servePreflight);
    noteHot(hotPathsOf(hot, method), path, serve);
  }
  return hot;
}

function hotPathsOf(hot: HotRoutes, method: Method): HotPaths {
  const known = hot.get(method) ?? { exact: new Map(), below: new Map(), around: [] };
  hot.set(method, known);
  return known;
}

function noteHot(hot: HotPaths, path: string, serve: RequestListener | null): void {
  const parameter = path.indexOf(':');
  const lastStep = path.lastIndexOf('/');
  if (parameter === -1) hot.exact.set(path, serve);
  else if (serve === null) return;
  else if (parameter === lastStep + 1) hot.below.set(path.slice(0, parameter), serve);
  else if (path.indexOf('/', parameter) === lastStep) {
    hot.around.push({ before: path.slice(0, parameter), step: path.slice(lastStep), serve });
  }
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
 * small call's CPU. Hot routes are matched before it; with a query string most come to the same handler through it.
 */
export const serveHotFirst =
  (hot: HotRoutes, app: RequestListener): RequestListener =>
  (req, res) => {
    const serve = hotRoute(hot.get(req.method ?? ''), req.url ?? '');
    if (serve === undefined || serve === null) app(req, res);
    else serve(req, res);
  };

function hotRoute(hot: HotPaths | undefined, url: string): RequestListener | null | undefined {
  if (hot === undefined) return undefined;
  const exact = hot.exact.get(url);
  if (exact !== undefined) return exact;
  return hotAround(hot, url) ?? hotBelow(hot, url);
}

/**
 * Between its fixed steps anything may stand that is one step, and a query may follow. No string is made for a look, and
 * none is compared that is not as long.
 */
function hotAround({ around }: HotPaths, url: string): RequestListener | undefined {
  const query = url.indexOf('?');
  const end = query === -1 ? url.length : query;
  const stepAt = url.lastIndexOf('/', end - 1);
  for (const { before, step, serve } of around) {
    if (step.length !== end - stepAt || before.length >= stepAt) continue;
    const isThere = url.startsWith(before) && url.startsWith(step, stepAt);
    if (isThere && url.indexOf('/', before.length) === stepAt) return serve;
  }
  return undefined;
}

/** A last step of letters, digits and underscores alone: nothing in it is to be decoded, and no query follows. */
const LAST_STEP = /^(.*\/)\w+$/;

function hotBelow({ below }: HotPaths, url: string): RequestListener | undefined {
  const [, parent] = LAST_STEP.exec(url) ?? [];
  return parent === undefined ? undefined : below.get(parent);
}

/** By which method of a router Express serves a method. */
const VERBS = { GET: 'get', POST: 'post', PATCH: 'patch', PUT: 'put', DELETE: 'delete' } as const;

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

/** An app that adds nothing of its own: paths match to the letter, and no header tells what serves them. */
export function createExpress(): Express {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.set('query parser', false);
  app.set('etag', false);
  app.set('x-powered-by', false);
  return app;
}

/**
 * What the binding needs besides the router. `Context` is the one that the router's procedures are written
 * for.
 */
export interface Edge<Context extends CallContext<unknown, object> = CallContext<unknown, object>> {
  /** `/v1`: every route of the router is served below it. */
  basePath: string;
  deps: Context['deps'];
  authenticate: (req: IncomingMessage) => Promise<Context['caller'] | ApiError>;
  /** Whom it accepted some seconds ago, for a route that has the key checked with its own work. `null`: nobody. */
  recall: (req: IncomingMessage) => Context['caller'] | null;
  /** After the key and before the body, on every route that takes one. */
  admitStart: (caller: Context['caller']) => ApiError | null;
  bodyBytesMax: () => number;
  ids: IdSource;
  callIdHeader: string;
  log: Log;
}
