import { TRPCError } from '@trpc/server';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { describeIssue } from '../contract/describe-issue.ts';
import { type ApiError, apiError, isApiError, Refusal } from '../contract/errors.ts';
import { commonHeaders } from '../contract/headers.ts';
import { type CallContext, hasBody, type Route, shapeOfPath } from '../contract/route.ts';
import { traceOf } from '../contract/trace-id.ts';
import type { Edge } from './mount-router.ts';
import { readBody } from './read-body.ts';
import { readInput } from './read-input.ts';
import { renderError } from './render-error.ts';
import { sendJson } from './send-json.ts';

const NO_BODY = Buffer.alloc(0);

/** A cold route: its procedure is called through tRPC, which checks input and output against the schemas. */
export function servePlain<Deps, Caller extends object>(
  route: Route<Deps, Caller>,
  edge: Edge<CallContext<Deps, Caller>>,
) {
  const { auth, method, operationId, path, status = 200, bodyBytesMax } = route.facts;
  const shape = shapeOfPath(path);
  const { deps, callIdHeader } = edge;

  const answer = async (req: Request, res: Response, callId: number): Promise<object | 'aborted'> => {
    const caller = auth === 'key' ? await edge.authenticate(req) : null;
    if (caller !== null && isApiError(caller)) return caller;
    if (!hasBody(method)) return call(NO_BODY);
    const refusal = caller === null ? null : edge.admitStart(caller);
    if (refusal !== null) return refusal;
    const body = await readBody(req, res, bodyBytesMax ?? edge.bodyBytesMax());
    return body === 'aborted' || isApiError(body) ? body : call(body);

    function call(bytes: Buffer): Promise<object> | ApiError {
      const input = readInput(route, req, bytes);
      if (!input.ok) return input.error;
      return callProcedure(
        route,
        { deps, caller, callId, callIdHeader, shape, body: bytes, req, res },
        input.value,
      );
    }
  };

  return async (req: Request, res: Response): Promise<void> => {
    const callId = edge.ids.next();
    const facts = { shape, callId, callIdHeader };
    try {
      const result = await answer(req, res, callId);
      if (result === 'aborted') return;
      if (isApiError(result)) renderError(res, result, facts);
      else sendJson(res, status, commonHeaders(facts), result);
    } catch (error) {
      edge.log.error('request failed', { callId, ...traceOf(req), path: operationId, error });
      renderError(res, apiError('gateway_error'), facts);
    }
  };
}

/**
 * The output, or what was refused on purpose or by the input's schema. Throws on a bug or a broken
 * dependency.
 */
async function callProcedure(
  { procedure, name, type }: Pick<Route<never, never>, 'procedure' | 'name' | 'type'>,
  ctx: object,
  input: unknown,
): Promise<object> {
  try {
    const output = await procedure({
      ctx,
      path: name,
      type,
      // Not as `input`: tRPC would merge what the schema dropped back into what it parsed.
      getRawInput: async () => input,
      signal: undefined,
      batchIndex: 0,
    });
    if (typeof output === 'object' && output !== null) return output;
  } catch (error) {
    if (!(error instanceof TRPCError)) throw error;
    const { cause, code } = error;
    if (cause instanceof Refusal) return cause.apiError;
    if (code === 'BAD_REQUEST' && cause instanceof z.ZodError) return describeIssue(cause.issues, input);
    throw cause ?? error;
  }
  throw new Error(`The answer of ${name} is not an object.`);
}
