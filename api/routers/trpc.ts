import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import type { Caller } from '../contract/caller.ts';
import {
  type PublicHandler,
  type RawHandler,
  type RouteFacts,
  type RouteMeta,
  routeMeta,
} from '../contract/route.ts';
import type { RequestContext, UseCases } from './context.ts';

export const t = initTRPC.context<RequestContext>().meta<RouteMeta<UseCases, Caller>>().create();

function neverCalled(): never {
  throw new Error('A raw route is not called through tRPC.');
}

/** A route whose key the edge has checked. Its input and output are validated by tRPC. */
export const keyedProcedure = (facts: Omit<RouteFacts, 'auth'>) =>
  t.procedure.meta(routeMeta({ ...facts, auth: 'key' }));

/**
 * A hot or streaming route: declared like any other, so that it stands in the document, but served by its
 * handler with the bytes as sent. tRPC would cost five times the rest of the call, and could not stream.
 */
export function rawRoute<Request extends z.ZodObject, Answer extends z.ZodObject>(
  facts: Omit<RouteFacts, 'auth'>,
  schemas: { request: Request; answer: Answer },
  handler: RawHandler<UseCases, Caller>,
) {
  return t.procedure
    .meta(routeMeta({ ...facts, auth: 'key' }, { handler }))
    .input(schemas.request)
    .output(schemas.answer)
    .mutation(neverCalled);
}

/** The same for a route that only reads. `parameters`: those of its path. */
export const rawQuery = <Answer extends z.ZodObject>(
  facts: Omit<RouteFacts, 'auth'>,
  answer: Answer,
  handler: RawHandler<UseCases, Caller>,
  parameters: z.ZodObject | z.ZodVoid = z.void(),
) =>
  t.procedure
    .meta(routeMeta({ ...facts, auth: 'key' }, { handler }))
    .input(parameters)
    .output(answer)
    .query(neverCalled);

/** A route that anybody may call, with or without a key, even a wrong one. `parameters`: those of its path and query. */
export function publicQuery<Answer extends z.ZodObject>(
  facts: Omit<RouteFacts, 'auth'>,
  answer: Answer,
  publicHandler: PublicHandler<UseCases>,
  parameters: z.ZodObject | z.ZodVoid = z.void(),
) {
  return t.procedure
    .meta(routeMeta<UseCases, Caller>({ ...facts, auth: 'none' }, { publicHandler }))
    .input(parameters)
    .output(answer)
    .query(neverCalled);
}
