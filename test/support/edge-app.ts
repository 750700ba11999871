import { createSecretKey, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createApiKey, hashApiKey, type Pepper } from '#core/accounts/api-key.ts';
import { systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import type { KeyLookup, Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import type { Caller } from '../../api/contract/caller.ts';
import { apiError } from '../../api/contract/errors.ts';
import { balanceExample, uploadExample } from '../../api/contract/examples.ts';
import { commonHeaders } from '../../api/contract/headers.ts';
import type { CallContext } from '../../api/contract/route.ts';
import { createAuthenticate } from '../../api/http/authenticate.ts';
import type { ServerLimits } from '../../api/http/create-http-server.ts';
import { createPublicServer, type PublicServerOptions } from '../../api/http/create-public-server.ts';
import { mountDocument } from '../../api/http/mount-document.ts';
import { mountNotFound } from '../../api/http/mount-not-found.ts';
import { createExpress, mountRouter, serveHotFirst } from '../../api/http/mount-router.ts';
import { sendJson } from '../../api/http/send-json.ts';
import type { UseCases } from '../../api/routers/context.ts';
import { v1Router } from '../../api/routers/router.ts';

export const documentText = readFileSync(new URL('../../openapi/v1.json', import.meta.url), 'utf8');

/** As an operator renamed it. */
export const CALL_ID_HEADER = 'x-edge-call-id';

export interface EdgeOptions {
  useCases?: Partial<UseCases>;
  bodyBytesMax?: number;
  limits?: Partial<ServerLimits> & Pick<PublicServerOptions, 'lastRequestsMs' | 'lastAnswersMs'>;
  findKey?: (hashes: readonly string[]) => Promise<KeyLookup>;
  recallKey?: Ledger['recallKey'];
}

/**
 * The real edge on loopback, in front of use cases that a test hands in; keys are known to a map, not a
 * ledger.
 */
export async function startEdge(options: EdgeOptions = {}) {
  const pepper: Pepper = { id: 'test', secret: createSecretKey(randomBytes(32)) };
  const keys = new Map<string, KeyLookup>();
  const addKey = (keyId: number, revoked: boolean): string => {
    const { key } = createApiKey();
    keys.set(hashApiKey(key, pepper), { found: true, agentId: 7, keyId, revoked, agentStatus: 'active' });
    return key;
  };
  const key = addKey(1, false);
  const otherKey = addKey(2, false);
  const revokedKey = addKey(3, true);

  const bodies: Buffer[] = [];
  const callers: Caller[] = [];
  const useCases: UseCases = {
    admitStart: () => null,
    async listModels({ res }) {
      res.end('{}');
      return null;
    },
    listVideoModels: ({ res }) => void res.end('{}'),
    listImageModels: ({ res }) => void res.end('{}'),
    listMarkets: async ({ res }) => void res.end('{}'),
    sendBook: async ({ res }) => void res.end('{}'),
    sendCandles: async ({ res }) => void res.end('{}'),
    async runCall(_endpoint, call) {
      bodies.push(call.body);
      callers.push(call.caller);
      answerOk(call);
      return null;
    },
    async sendBalance(call) {
      sendJson(call.res, 200, commonHeaders(call), balanceExample);
      return null;
    },
    runImage: answerEmpty,
    orderVideo: answerEmpty,
    sendVideo: answerEmpty,
    openVideo: answerEmpty,
    createUpload: async () => uploadExample.answer,
    ...options.useCases,
  };
  const logged: { event: string; fields: unknown }[] = [];
  const log: Log = {
    info: (event, fields) => logged.push({ event, fields }),
    warn: (event, fields) => logged.push({ event, fields }),
    error: (event, fields) => logged.push({ event, fields }),
  };

  const findKey = async (hashes: readonly string[]): Promise<KeyLookup> =>
    hashes.map((hash) => keys.get(hash)).find((owner) => owner !== undefined) ?? { found: false };
  const ids = createIdSource(systemClock);
  const app = createExpress();
  mountDocument(app, '/openapi.json', documentText);
  const hotRoutes = mountRouter(app, v1Router, {
    basePath: '/v1',
    deps: useCases,
    ...createAuthenticate({
      findKey: options.findKey ?? findKey,
      recallKey: options.recallKey ?? (() => null),
      peppers: [pepper],
    }),
    admitStart: useCases.admitStart,
    bodyBytesMax: () => options.bodyBytesMax ?? 4 * 1024 * 1024,
    ids,
    callIdHeader: CALL_ID_HEADER,
    log,
  });
  mountNotFound(app, { basePath: '/v1', ids, callIdHeader: CALL_ID_HEADER, log });
  const server = createPublicServer(serveHotFirst(hotRoutes, app), {
    ...options.limits,
    ids,
    callIdHeader: CALL_ID_HEADER,
  });
  const port = await server.listen(0, '127.0.0.1');
  return {
    app,
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    key,
    otherKey,
    revokedKey,
    /** What reached the handler. */
    bodies,
    callers,
    logged,
    async stop() {
      const drained = server.endDrain();
      server.destroy();
      await drained;
    },
  };
}

export type EdgeApp = Awaited<ReturnType<typeof startEdge>>;

async function answerEmpty({ res }: Pick<CallContext<unknown, unknown>, 'res'>): Promise<null> {
  res.end('{}');
  return null;
}

/** The smallest answer that a raw handler can give. */
export function answerOk({ res, body }: CallContext<unknown, unknown>): void {
  const text = JSON.stringify({ bytes: body.length });
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': String(text.length) });
  res.end(text);
}

export const smallBody = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });

/** Head lines of a chat call with a body of `length` bytes. */
export const chatHead = (key: string, length: number | null, more: readonly string[] = []): string[] => [
  'POST /v1/chat/completions HTTP/1.1',
  'Host: edge',
  `Authorization: Bearer ${key}`,
  ...(length === null ? [] : [`Content-Length: ${length}`]),
  ...more,
];

export const refuseWith = (code: Parameters<typeof apiError>[0]) => async () => apiError(code);
