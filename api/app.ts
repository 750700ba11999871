import type { RequestListener } from 'node:http';
import type { Catalog } from '#core/catalog/catalog.ts';
import { readBalance } from './account/read-account.ts';
import { CONSOLE_PATH, consoleHeaders, readConsole } from './console/console-files.ts';
import { type ApiError, apiError } from './contract/errors.ts';
import { commonHeaders } from './contract/headers.ts';
import { shapeImageModels, shapeVideoModels } from './contract/media-models.ts';
import { shapeModelList } from './contract/model-list.ts';
import { readRoutes } from './contract/route.ts';
import type { Deps } from './deps.ts';
import { DOCS_PATH, docsFiles, docsHeaders } from './docs-page/docs-files.ts';
import { createAuthenticate } from './http/authenticate.ts';
import { createClientAddress } from './http/client-address.ts';
import { createServeList } from './http/create-serve-list.ts';
import { mountDocument, withServerUrl } from './http/mount-document.ts';
import { mountFiles } from './http/mount-files.ts';
import { mountNotFound } from './http/mount-not-found.ts';
import { createExpress, type Edge, mountRouter, serveHotFirst } from './http/mount-router.ts';
import { mountStaticFiles } from './http/mount-static-files.ts';
import { sendJson } from './http/send-json.ts';
import { createServeMarkets, type ServeMarketsOptions } from './http/serve-markets.ts';
import { createServeVideos } from './http/serve-videos.ts';
import { callFormats } from './inference/formats/call-formats.ts';
import { refusePrivateLink, systemResolve } from './inference/linked-images/public-link.ts';
import { runCall } from './inference/run-call.ts';
import { createMarketReads } from './market/market-reads.ts';
import { createServeMcp, type McpDeps } from './mcp/serve-mcp.ts';
import { createUpload, refuseUpload, type UploadDeps } from './media/create-upload.ts';
import { restAfterFailure } from './media/images/rest-after-failure.ts';
import { runImage } from './media/images/run-image.ts';
import type { VideoDeps } from './media/video-deps.ts';
import type { RequestContext, UseCases } from './routers/context.ts';
import { v1Router } from './routers/router.ts';

/** The public surface. The order of the lines is the order of the layers. */
export function buildApp(deps: Deps, documentText: string, publicUrl: string): RequestListener {
  const { gateway, store, log } = deps;
  const app = createExpress();
  const useCases = buildUseCases(deps, publicUrl);
  const authentication = createAuthenticate({
    findKey: (hashes) => store.ledger.findKey(hashes),
    recallKey: (hashes) => store.ledger.recallKey(hashes),
    peppers: store.peppers,
  });
  const edge: Edge<RequestContext> = {
    basePath: '/v1',
    deps: useCases,
    ...authentication,
    admitStart: useCases.admitStart,
    bodyBytesMax: () => gateway.limits().requestBodyBytes,
    ids: gateway.ids,
    callIdHeader: gateway.callIdHeader,
    log,
  };
  const hotRoutes = mountRouter(app, v1Router, edge);
  const serveMcp = createServeMcp({ ...buildMcpDeps(deps), authenticate: authentication.authenticate });
  app.all(MCP_PATH, serveMcp);
  mountDocument(app, '/openapi.json', withServerUrl(documentText, publicUrl));
  if (deps.files?.kind === 'local') mountFiles(app, { files: deps.files, clock: deps.clock, log });
  const filesOrigin = deps.files?.kind === 's3' ? deps.files.linkOrigin : new URL(publicUrl).origin;
  mountStaticFiles(app, { root: CONSOLE_PATH, files: readConsole(), headers: consoleHeaders(filesOrigin) });
  app.get(`${CONSOLE_PATH}/`, (_, res) => res.redirect(308, CONSOLE_PATH));
  mountStaticFiles(app, { root: DOCS_PATH, files: docsFiles(publicUrl), headers: docsHeaders });
  // Beside itself, as all links of the page are: a proxy may have put it below a path of its own.
  app.get(`${DOCS_PATH}/`, (_, res) => res.redirect(308, '../docs'));
  mountNotFound(app, edge, servedRoutes(edge.basePath));
  hotRoutes.get('POST')?.exact.set(MCP_PATH, serveMcp);
  return serveHotFirst(hotRoutes, app);
}

const MCP_PATH = '/mcp';

const servedRoutes = (basePath: string): string[] =>
  readRoutes(v1Router).map(({ facts: { method, path } }) => `${method} ${basePath}${path}`);

function buildUseCases(deps: Deps, publicUrl: string): UseCases {
  const { gateway, store, clock } = deps;
  const lists = buildLists(gateway.catalog);
  const images = {
    gateway,
    files: deps.files === null ? null : restAfterFailure(deps.files, clock),
    refusePrivate,
  };
  return {
    admitStart: ({ agentId }) => admitStart(deps, agentId),
    runCall: (format, call) => runCall(gateway, callFormats[format], call),
    runImage: (call) => runImage(images, call),
    async listModels(call) {
      lists.models(call.res, commonHeaders(call));
      return null;
    },
    listVideoModels: (call) => lists.videoModels(call.res, commonHeaders(call)),
    listImageModels: (call) => lists.imageModels(call.res, commonHeaders(call)),
    async sendBalance(call) {
      const balance = await readBalance({ ledger: store.ledger, clock }, call.caller);
      if (balance === 'unavailable') return apiError('service_unavailable');
      sendJson(call.res, 200, commonHeaders(call), balance);
      return null;
    },
    ...createServeMarkets(marketOptions(deps)),
    ...createServeVideos(videoDeps(deps, publicUrl)),
    async createUpload({ agentId }, { content_type: contentType, size }) {
      const result = await createUpload(uploadDeps(deps), { agentId, contentType, size });
      return result.ok ? result.upload : refuseUpload(result, clock.now());
    },
  };
}

function marketOptions({ gateway, store, config, clock, log }: Deps): ServeMarketsOptions {
  const { market, server } = config.current();
  return {
    reads: market === 'off' ? null : createMarketReads({ ...store.markets, clock, log }),
    weights: store.countWeights(() => gateway.limits().marketWeightPerMinute),
    clientAddress: createClientAddress(server.trustedProxies),
    callIdHeader: gateway.callIdHeader,
  };
}

const refusePrivate = (link: string): Promise<string | null> => refusePrivateLink(link, systemResolve);

const uploadDeps = ({ gateway, store, files, clock }: Deps): UploadDeps => ({
  ledger: store.ledger,
  files,
  clock,
  limits: gateway.limits,
});

const videoDeps = ({ gateway, store, files }: Deps, publicUrl: string): VideoDeps => ({
  gateway,
  videos: store.videos,
  files,
  reads: store.limitRate('videos', {
    ratePerMinute: () => gateway.limits().videoReadsPerMinute,
    burst: () => gateway.limits().videoReadsPerMinute,
  }),
  publicUrl,
  refusePrivate,
});

function buildMcpDeps(deps: Deps): Omit<McpDeps, 'authenticate'> {
  const { gateway, store, clock, log } = deps;
  const { limits, ids } = gateway;
  const { ledger, history, peppers } = store;
  return {
    account: { ledger, history, clock, ids, pepper: peppers[0], limits },
    startUpload: (asked) => createUpload(uploadDeps(deps), asked),
    requests: store.limitRate('mcp', {
      ratePerMinute: () => limits().mcpRequestsPerMinute,
      burst: () => limits().mcpBurst,
    }),
    log,
  };
}

/** Prices change: a client asks each time, but of the public ones, which caches of others may keep for a while. */
const buildLists = (catalog: Catalog) => ({
  models: createServeList({ read: catalog.models, shape: shapeModelList, cacheControl: 'private, no-cache' }),
  videoModels: createServeList({
    read: catalog.videoModels,
    shape: shapeVideoModels,
    cacheControl: PUBLIC_LIST_CACHE,
  }),
  imageModels: createServeList({
    read: catalog.imageModels,
    shape: shapeImageModels,
    cacheControl: PUBLIC_LIST_CACHE,
  }),
});

const PUBLIC_LIST_CACHE = 'public, max-age=300';

/** An agent whose starts are all refused waits before its next body is read. */
function admitStart({ gateway, clock }: Deps, agentId: number): ApiError | null {
  const waitMs = gateway.refusedStarts.waitMs(agentId, clock.monotonicMs());
  if (waitMs === 0) return null;
  gateway.metrics.refused('rate_limited');
  const { callsPerMinute } = gateway.limits();
  return apiError('rate_limited', { retryAfterMs: waitMs, callsPerMinute });
}
