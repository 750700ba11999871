import type { RequestListener } from 'node:http';
import { shapeBalance } from './contract/balance.ts';
import { type ApiError, apiError } from './contract/errors.ts';
import { answerHeaders } from './contract/headers.ts';
import { readRoutes } from './contract/route.ts';
import type { Deps } from './deps.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { createExpress } from './http/create-express.ts';
import type { Edge } from './http/edge.ts';
import { mountDocument, withServerUrl } from './http/mount-document.ts';
import { mountFiles } from './http/mount-files.ts';
import { mountNotFound } from './http/mount-not-found.ts';
import { mountRouter, serveHotFirst } from './http/mount-router.ts';
import { createServeModelList } from './http/serve-model-list.ts';
import { callFormats } from './inference/formats/call-formats.ts';
import { runCall } from './inference/run-call.ts';
import { createUpload } from './media/create-upload.ts';
import { refuseUpload } from './media/refuse-upload.ts';
import type { RequestContext, UseCases } from './routers/context.ts';
import { v1Router } from './routers/router.ts';

/** The public surface. The order of the lines is the order of the layers. */
export function buildApp(deps: Deps, documentText: string, publicUrl: string): RequestListener {
  const { gateway, store, log } = deps;
  const app = createExpress();
  const useCases = buildUseCases(deps);
  const edge: Edge<RequestContext> = {
    basePath: '/v1',
    deps: useCases,
    ...createAuthenticate({
      findKey: (hashes) => store.ledger.findKey(hashes),
      recallKey: (hashes) => store.ledger.recallKey(hashes),
      peppers: store.peppers,
    }),
    admitStart: useCases.admitStart,
    bodyBytesMax: () => gateway.limits().requestBodyBytes,
    ids: gateway.ids,
    callIdHeader: gateway.callIdHeader,
    log,
  };
  const hotRoutes = mountRouter(app, v1Router, edge);
  mountDocument(app, '/openapi.json', withServerUrl(documentText, publicUrl));
  if (deps.files?.kind === 'local') mountFiles(app, { files: deps.files, clock: deps.clock, log });
  mountNotFound(app, edge, servedRoutes(edge.basePath));
  return serveHotFirst(hotRoutes, app);
}

const servedRoutes = (basePath: string): string[] =>
  readRoutes(v1Router).map(({ facts: { method, path } }) => `${method} ${basePath}${path}`);

function buildUseCases(deps: Deps): UseCases {
  const { gateway, store, clock } = deps;
  const serveModelList = createServeModelList(gateway.catalog);
  return {
    admitStart: ({ agentId }) => admitStart(deps, agentId),
    runCall: (endpoint, call) => runCall(gateway, callFormats[endpoint], call),
    async listModels(call) {
      serveModelList(call.res, answerHeaders(call));
      return null;
    },
    async readBalance(caller) {
      const view = await store.ledger.readAgent(caller.agentId);
      if (view === null || view === 'unavailable') return apiError('service_unavailable');
      return shapeBalance(view, caller.keyId, clock.now());
    },
    async createUpload({ agentId }, { content_type: contentType, size }) {
      const uploads = { ledger: store.ledger, files: deps.files, clock, limits: gateway.limits };
      const result = await createUpload(uploads, { agentId, contentType, size });
      return result.ok ? result.upload : refuseUpload(result, clock.now());
    },
  };
}

/** An agent whose starts are all refused waits before its next body is read. */
function admitStart({ gateway, clock }: Deps, agentId: number): ApiError | null {
  const waitMs = gateway.refusedStarts.waitMs(agentId, clock.now());
  if (waitMs === 0) return null;
  gateway.metrics.refused('rate_limited');
  const { callsPerMinute } = gateway.limits();
  return apiError('rate_limited', { retryAfterMs: waitMs, callsPerMinute });
}
