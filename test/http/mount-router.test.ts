import { initTRPC } from '@trpc/server';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import { answerOrRefuse, apiError } from '../../api/contract/errors.ts';
import { type CallContext, type RouteFacts, type RouteMeta, routeMeta } from '../../api/contract/route.ts';
import { createPublicServer } from '../../api/http/create-public-server.ts';
import { mountNotFound } from '../../api/http/mount-not-found.ts';
import { createExpress, mountRouter, serveHotFirst } from '../../api/http/mount-router.ts';

/** Another router, with another caller, on the same binding: what the admin API does. */
interface Deps {
  name: string;
}
interface Operator {
  operator: string;
}
const t = initTRPC.context<CallContext<Deps, Operator>>().meta<RouteMeta<Deps, Operator>>().create();

const route = (
  method: RouteFacts['method'],
  path: RouteFacts['path'],
  auth: RouteFacts['auth'] = 'key',
): RouteMeta<Deps, Operator> =>
  routeMeta<Deps, Operator>({
    method,
    path,
    auth,
    operationId: 'x',
    tag: 'x',
    summary: 'x',
    description: 'x',
    errors: [],
    examples: { answer: {} },
  });

const echo = z.looseObject({});
const router = t.router({
  byId: t.procedure
    .meta(route('GET', '/things/{id}'))
    .input(z.object({ id: z.string().regex(/^\d+$/, { error: 'a number' }), verbose: z.string().optional() }))
    .output(echo)
    .query(({ input, ctx }) => ({
      route: 'byId',
      ...input,
      deps: ctx.deps.name,
      caller: ctx.caller.operator,
    })),
  models: t.procedure
    .meta(route('GET', '/things/models'))
    .output(echo)
    .query(() => ({ route: 'models' })),
  put: t.procedure
    .meta(route('POST', '/things/{id}'))
    .input(z.strictObject({ id: z.string(), count: z.int({ error: 'a whole number' }).optional() }))
    .output(echo)
    .mutation(({ input }) => ({ ...input })),
  remove: t.procedure
    .meta(route('DELETE', '/things/{id}'))
    .input(z.object({ id: z.string() }))
    .output(echo)
    .mutation(({ input }) =>
      answerOrRefuse<Record<string, unknown>>(apiError('not_found', { message: `No thing ${input.id}.` })),
    ),
  shaped: t.procedure
    .meta(route('GET', '/shaped/{as}'))
    .input(z.object({ as: z.string() }))
    .output(z.object({ count: z.int() }))
    .query(({ input }) => {
      if (input.as === 'thrown') throw new Error('the database at 10.0.0.7 said no');
      return JSON.parse(input.as === 'wrong' ? '{"count":"5"}' : '{"count":5,"internal":"x"}');
    }),
  hot: t.procedure
    .meta(
      routeMeta<Deps, Operator>(route('GET', '/hot/{id}').http, {
        handler: async ({ req, res }) => {
          res.end(JSON.stringify({ route: 'hot', url: req.url, throughExpress: 'app' in req }));
          return null;
        },
      }),
    )
    .input(z.object({ id: z.string() }))
    .output(echo)
    .query((): never => {
      throw new Error('not called');
    }),
  around: t.procedure
    .meta(
      routeMeta<Deps, Operator>(route('GET', '/hot/{id}/parts').http, {
        handler: async ({ req, res }) => {
          res.end(JSON.stringify({ route: 'around', url: req.url, throughExpress: 'app' in req }));
          return null;
        },
      }),
    )
    .input(z.object({ id: z.string() }))
    .output(echo)
    .query((): never => {
      throw new Error('not called');
    }),
  cold: t.procedure
    .meta(route('GET', '/hot/list'))
    .output(echo)
    .query(() => ({ route: 'cold' })),
  open: t.procedure
    .meta(route('GET', '/open', 'none'))
    .output(echo)
    .query(() => ({ route: 'open' })),
});

const app = createExpress();
const ids = createIdSource(systemClock);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const hotRoutes = mountRouter(app, router, {
  basePath: '/admin',
  deps: { name: 'deps' },
  authenticate: async (req) =>
    req.headers.authorization === 'Bearer token' ? { operator: 'ann' } : apiError('invalid_api_key'),
  recall: () => null,
  admitStart: () => null,
  bodyBytesMax: () => 100,
  ids,
  callIdHeader: 'x-service-call-id',
  log,
});
mountNotFound(app, { basePath: '/admin', ids, callIdHeader: 'x-service-call-id', log });
const server = createPublicServer(serveHotFirst(hotRoutes, app), { ids, callIdHeader: 'x-service-call-id' });
const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/admin`;
afterAll(async () => {
  server.destroy();
  await server.endDrain();
});

async function ask(method: string, path: string, body?: string) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: 'Bearer token' },
    ...(body === undefined ? {} : { body }),
  });
  const json: unknown = await answer.json();
  return { status: answer.status, json };
}
const refused = (code: string, param: string | null) => ({ error: { code, param } });

describe('the binding', () => {
  test('hands on what the schema names of path and query, as text, with deps and caller', async () => {
    expect(await ask('GET', '/things/12?verbose=1&other=2')).toEqual({
      status: 200,
      json: { route: 'byId', id: '12', verbose: '1', deps: 'deps', caller: 'ann' },
    });
  });

  test('a fixed path wins over a parameter, whichever was declared first', async () => {
    expect((await ask('GET', '/things/models')).json).toEqual({ route: 'models' });
  });

  test('a hot route with a parameter is matched before Express; its fixed neighbours, queries and escapes are not', async () => {
    const hot = (path: string, throughExpress: boolean) => ({
      status: 200,
      json: { route: 'hot', url: `/admin${path}`, throughExpress },
    });
    expect(await ask('GET', '/hot/thing_1')).toEqual(hot('/hot/thing_1', false));
    for (const path of ['/hot/thing_1?x=1', '/hot/thing%5f1', '/hot/a-b']) {
      expect(await ask('GET', path)).toEqual(hot(path, true));
    }
    expect((await ask('GET', '/hot/list')).json).toEqual({ route: 'cold' });
    for (const path of ['/hot', '/hot/', '/hot/thing_1/more'])
      expect((await ask('GET', path)).status).toBe(404);
    expect((await ask('DELETE', '/hot/thing_1')).status).toBe(404);
    expect((await fetch(`${url}/hot/thing_1`)).status).toBe(401);
  });

  test('a hot route with steps behind its parameter is matched before Express, with a query, too', async () => {
    for (const path of [
      '/hot/thing-1/parts',
      '/hot/thing%ff/parts?a=/b/parts',
      '/hot/list/parts?',
      '/hot/%/parts',
    ]) {
      const served = {
        status: 200,
        json: { route: 'around', url: `/admin${path}`, throughExpress: false },
      };
      expect(await ask('GET', path), path).toEqual(served);
      expect(await ask('GET', path), `${path}, asked for again`).toEqual(served);
      expect((await ask('POST', path)).status, path).toBe(404);
    }
    for (const path of [
      '/hot//parts',
      '/hot/parts/',
      '/hot/a/b/parts',
      '/hot/a/parts/',
      '/hot/a/part',
      '/hot/a/Parts',
    ])
      expect((await ask('GET', path)).status, path).toBe(404);
    expect((await ask('POST', '/hot/a/parts')).status).toBe(404);
    expect((await fetch(`${url}/hot/a/parts`)).status).toBe(401);
  });

  test('a route without a key needs none, another does', async () => {
    expect((await fetch(`${url}/open`)).status).toBe(200);
    expect((await fetch(`${url}/things/1`)).status).toBe(401);
  });

  test('a refusal of a use case keeps its code and message', async () => {
    const { status, json } = await ask('DELETE', '/things/5');
    expect(status).toBe(404);
    expect(json).toMatchObject({ error: { code: 'not_found', message: 'No thing 5.' } });
  });

  test('an answer has what its schema names, and one that does not fit it is never sent', async () => {
    expect(await ask('GET', '/shaped/right')).toEqual({ status: 200, json: { count: 5 } });
    expect(await ask('GET', '/shaped/wrong')).toMatchObject({
      status: 500,
      json: refused('gateway_error', null),
    });
  });

  test('an unexpected failure is a gateway_error that tells nothing', async () => {
    const answer = await ask('GET', '/shaped/thrown');
    expect(answer).toMatchObject({ status: 500, json: refused('gateway_error', null) });
    expect(JSON.stringify(answer)).not.toContain('10.0.0.7');
  });

  test('the path wins over the body', async () => {
    expect((await ask('POST', '/things/5', '{"id":"6","count":2}')).json).toEqual({ id: '5', count: 2 });
  });

  test('an empty body is an empty object', async () => {
    expect((await ask('POST', '/things/5')).json).toEqual({ id: '5' });
  });

  test.each([
    ['POST', '/things/5', '{"count":"2"}', 'count'],
    ['POST', '/things/5', '{"count":null}', 'count'],
    ['POST', '/things/5', '{"other":2}', 'other'],
    ['POST', '/things/5', '{"__proto__":2}', '__proto__'],
    ['POST', '/things/5', '[]', null],
    ['POST', '/things/5', '{', null],
    ['POST', '/things/5', '"text"', null],
    ['GET', '/things/abc', undefined, 'id'],
    ['GET', '/things/1?verbose=1&verbose=2', undefined, 'verbose'],
  ])('%s %s with %s is invalid_request', async (method, path, body, param) => {
    const { status, json } = await ask(method, path, body);
    expect(status).toBe(400);
    expect(json).toMatchObject(refused('invalid_request', param));
  });

  test('a body over the limit is refused, and an undecodable path is not_found', async () => {
    expect((await ask('POST', '/things/5', ' '.repeat(101))).status).toBe(413);
    expect((await ask('GET', '/things/%ff')).json).toMatchObject(refused('not_found', null));
  });

  test('a procedure that says no route stops the start', () => {
    const lost = t.router({ lost: t.procedure.query(() => 1) });
    expect(() =>
      mountRouter(createExpress(), lost, {
        basePath: '/admin',
        deps: { name: 'deps' },
        authenticate: async () => apiError('invalid_api_key'),
        recall: () => null,
        admitStart: () => null,
        bodyBytesMax: () => 100,
        ids,
        callIdHeader: 'x',
        log,
      }),
    ).toThrow('The procedure lost does not say which route it is.');
  });
});
