import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyTRPCRouter, TRPCProcedureType } from '@trpc/server';
import type { z } from 'zod';
import type { CallId } from '#core/ids.ts';
import type { AnyErrorCode } from './error-body.ts';
import type { ApiError, ErrorShape } from './errors.ts';
import type { HeaderName, RequestHeaderName } from './headers.ts';

/** One request at a matched route. `Caller` is whoever the edge authenticated. */
export interface CallContext<Deps, Caller> {
  deps: Deps;
  caller: Caller;
  /** Made before anything else happens to the request. */
  callId: CallId;
  /** The header that carries the call id; the operator may rename it. */
  callIdHeader: string;
  shape: ErrorShape;
  /** As sent. Empty where the method has none. */
  body: Buffer;
  req: IncomingMessage;
  res: ServerResponse;
}

/** A hot route begins with a caller that was known some seconds ago. */
export interface HotCallContext<Deps, Caller> extends CallContext<Deps, Caller> {
  /** As the ledger knows it now. */
  confirmCaller: () => Promise<Caller | ApiError>;
}

/**
 * Answers by itself: bytes, streams. A refusal before the first byte is returned and rendered by the edge;
 * `null`: answered.
 */
export type RawHandler<Deps, Caller> = (call: HotCallContext<Deps, Caller>) => Promise<ApiError | null>;

/** One request at a route that anybody may call. */
export interface PublicCallContext<Deps> extends Omit<CallContext<Deps, never>, 'caller' | 'body'> {
  isPublic: true;
}

/** The handler of a route that anybody may call. It answers by itself. */
export type PublicHandler<Deps> = (call: PublicCallContext<Deps>) => void | Promise<void>;

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** What a route is, said once: the binding serves it and the document describes it from the same lines. */
export interface RouteFacts {
  method: Method;
  /** Below the base path, with parameters as `{id}`. */
  path: `/${string}`;
  /** Verb and noun in camelCase. SDKs name their functions by it: it never changes. */
  operationId: string;
  tag: string;
  summary: string;
  description: string;
  auth: 'key' | 'none';
  /** It begins with a reserve, which checks the key: until then it is enough that the key was live some seconds ago. */
  reserves?: true;
  /** Of the successful answer; 200 where it stands in no line. */
  status?: 201 | 202 | 302;
  /** Beyond those that the edge itself answers (`errorsOf`). */
  errors: readonly AnyErrorCode[];
  /** Of the request, where it differs from that of the other routes. */
  bodyBytesMax?: number;
  /** Of the successful answer. */
  headers?: readonly HeaderName[];
  /** Of the request, besides the key's. */
  requestHeaders?: readonly RequestHeaderName[];
  /** One server-sent event, where the route can stream. */
  event?: z.ZodType;
  /** Each event of its streams has a name, which is the `type` of its data. */
  namesEvents?: true;
  examples: { request?: object; answer: object; events?: readonly string[] };
}

/** What stands in a procedure's meta: `openapi` is trpc-to-openapi's part, `http` ours. */
export type RouteMeta<Deps, Caller> = {
  openapi: Pick<RouteFacts, 'method' | 'path' | 'operationId' | 'summary' | 'description'> & {
    tags: string[];
    protect: boolean;
    errorResponses: number[];
  };
  http: RouteFacts & RouteHandlers<Deps, Caller>;
};

/** Either of them makes the route raw: its bytes never pass tRPC. */
interface RouteHandlers<Deps, Caller> {
  handler?: RawHandler<Deps, Caller>;
  publicHandler?: PublicHandler<Deps>;
}

export function routeMeta<Deps, Caller>(
  facts: RouteFacts,
  handlers: RouteHandlers<Deps, Caller> = {},
): RouteMeta<Deps, Caller> {
  const { method, path, operationId, tag, summary, description, auth } = facts;
  return {
    openapi: {
      method,
      path,
      operationId,
      tags: [tag],
      summary,
      description,
      protect: auth === 'key',
      // The library's own error bodies are not ours: the finishing pass adds the real ones.
      errorResponses: [],
    },
    http: { ...facts, ...handlers },
  };
}

export interface Route<Deps, Caller> {
  /** The procedure's place in the router, such as `chat.create`. */
  name: string;
  type: TRPCProcedureType;
  facts: RouteFacts;
  handler: RawHandler<Deps, Caller> | null;
  publicHandler: PublicHandler<Deps> | null;
  input: z.ZodType | null;
  procedure: (options: ProcedureCall) => Promise<unknown>;
}

interface ProcedureCall {
  ctx: object;
  path: string;
  type: TRPCProcedureType;
  getRawInput: () => Promise<unknown>;
  signal: AbortSignal | undefined;
  batchIndex: number;
}

interface DecodedProcedure<Deps, Caller> {
  (options: ProcedureCall): Promise<unknown>;
  _def: { type: TRPCProcedureType; inputs: z.ZodType[]; meta: RouteMeta<Deps, Caller> };
}

/**
 * The routes of a router, in its order. tRPC types a router's flat list of procedures as `any`; this is the
 * one place that says what they are. A procedure without route facts is a mistake that stops the start.
 */
export function readRoutes<Deps, Caller>(router: AnyTRPCRouter): Route<Deps, Caller>[] {
  const procedures = Object.entries(router._def.procedures as Record<string, DecodedProcedure<Deps, Caller>>);
  return procedures.map(([name, procedure]) => {
    const { type, inputs, meta } = procedure._def;
    if (meta?.http === undefined) throw new Error(`The procedure ${name} does not say which route it is.`);
    const { handler = null, publicHandler = null, ...facts } = meta.http;
    return { name, type, facts, handler, publicHandler, input: inputs[0] ?? null, procedure };
  });
}

export const hasBody = (method: Method): boolean => method !== 'GET' && method !== 'DELETE';

/** Spec: Errors, Shapes. Everything below `/messages` speaks the messages format, everything below `/dex` that of markets. */
export function shapeOfPath(path: string): ErrorShape {
  if (/^\/messages(\/|$)/.test(path)) return 'messages';
  return /^\/dex(\/|$)/.test(path) ? 'market' : 'chat';
}

/** Every code that a route can answer with, those of the edge first. */
export function errorsOf({ method, auth, errors }: RouteFacts): AnyErrorCode[] {
  const codes = new Set<AnyErrorCode>(['gateway_error']);
  if (auth === 'key') codes.add('invalid_api_key').add('service_unavailable');
  if (hasBody(method)) codes.add('invalid_request').add('request_too_large').add('timeout');
  for (const code of errors) codes.add(code);
  return [...codes];
}
