import { readFile } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import { Registry } from 'prom-client';
import { type LoopDelay, watchLoopDelay } from '#core/capacity/loop-delay.ts';
import { needsBundledSimulator } from '#core/catalog/catalog-settings.ts';
import { type MachineClock, SECOND_MS, systemClock } from '#core/clock.ts';
import { readClockFile, writeClockFile } from '#core/clock-file.ts';
import { httpOrigin } from '#core/http-origin.ts';
import { createIdSource } from '#core/ids.ts';
import { createLog, type Log } from '#core/log.ts';
import type { Secret } from '#core/secret.ts';
import { StartWaits } from '#core/start-waits.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import { atMost } from '#core/wait.ts';
import { CONFIRMED_BY_REDIS, watchClock } from '#core/watch-clock.ts';
import { findWritableByOthers } from '#core/writable-by-others.ts';
import { buildAdmin } from '../admin/build-admin.ts';
import { buildApp } from '../app.ts';
import { loadOrCreateAdminToken } from '../config/admin-token.ts';
import { writeAdminUrl } from '../config/admin-url.ts';
import type { Config } from '../config/config.ts';
import { buildDeps, type Deps, type DepsOptions } from '../deps.ts';
import { createPublicServer } from '../http/create-public-server.ts';
import { type Simulator, startSimulator } from '../simulator/simulator.ts';
import { type Demo, type DemoAddresses, ensureDemo } from './demo.ts';
import { checkTimes } from './describe-times.ts';
import { GatewayShutdown } from './gateway-shutdown.ts';
import { type OpenInternalServer, openInternalServer } from './open-internal-server.ts';

export interface RunningGateway {
  deps: Deps;
  /** Ends in `/v1`. */
  baseUrl: string;
  mcpUrl: string;
  internalUrl: string;
  adminToken: Secret;
  /** `null`: this gateway has made none, and looks after none. */
  demo: Demo | null;
  /** No new calls; resolves when the running ones have settled and everything is closed. */
  drain(): Promise<void>;
  /** What is still running is cut. */
  stop(): Promise<void>;
}

const FIRST_CATALOG_WAIT_MS = 3 * SECOND_MS;
/** A newcomer's stream arrives word by word, as from a real provider. */
const SIMULATOR_PACE_MS = 20;
/** Long enough that a newcomer sees a video being made. */
const SIMULATOR_VIDEO_MS = 12 * SECOND_MS;
const LOOPBACK = '127.0.0.1';

/** The whole gateway in this process: API, workers and, where a provider asks for it, the simulator. */
export async function startGateway(
  config: Config,
  {
    clock: machineClock = systemClock,
    log = createLog(),
    // Of this thread, whatever the clock of its calls says.
    loopDelay = watchLoopDelay(systemClock),
  }: { clock?: MachineClock; log?: Log; loopDelay?: LoopDelay } = {},
): Promise<RunningGateway> {
  const { server, storage } = config;
  const clock = trustedClock(
    machineClock,
    storage.mode === 'embedded' ? readClockFile(storage.dataDir) : null,
  );
  const registry = new Registry();
  const waits = new StartWaits(clock, log);
  const internalServer = await openInternalServer({
    ...{ server, metrics: registry, waits },
    answerIds: { ids: createIdSource(clock), callIdHeader: server.callIdHeader },
  });
  try {
    return await startBehind(internalServer, { config, clock, log, loopDelay, registry, waits });
  } catch (error) {
    // What goes on waiting behind a start, such as for the history, would try for ever.
    waits.close();
    await internalServer.close();
    throw error;
  }
}

async function startBehind(
  internalServer: OpenInternalServer,
  parts: Pick<DepsOptions, 'config' | 'clock' | 'log' | 'loopDelay' | 'registry' | 'waits'>,
): Promise<RunningGateway> {
  const { config, clock, log, loopDelay } = parts;
  const documentText = await readFile(new URL('../../openapi/v1.json', import.meta.url), 'utf8');
  const simulator = await startBundledSimulator(config);
  const deps = await buildDeps({
    ...parts,
    bundledSimulatorUrl: simulator?.baseUrl ?? null,
    publicUrl: () => baseUrl,
  });
  const watchedClock = watchClock({ clock, log, ...clockCare(config) });
  await atMost(clock, deps.catalog.refresh(), FIRST_CATALOG_WAIT_MS, undefined);
  await deps.workers.start();

  const { server } = config;
  const publicUrl = server.publicUrl ?? `${httpOrigin(server.host, server.port)}/v1`;
  const adminToken = config.adminToken ?? loadOrCreateAdminToken(config.storage.dataDir);
  const admin = buildAdminOf(deps, adminToken);
  // Takes more than a second of the first start, in which no call would be heard, so before any can come. At exit would be
  // too late for a process that is killed; without the cache every start strips types again.
  flushCompileCache();
  const answerIds = { ids: deps.gateway.ids, callIdHeader: server.callIdHeader };
  const { connectionLimit } = deps;
  const publicServer = createPublicServer((req, res) => app(req, res), {
    ...answerIds,
    ...(connectionLimit === null ? {} : { connectionLimit }),
  });
  const port = await publicServer.listen(server.port, server.host);
  const baseUrl = server.publicUrl ?? `${httpOrigin(server.host, port)}/v1`;
  const mcpUrl = server.mcpUrl ?? baseUrl.replace(/\/v1$/, '/mcp');
  const app = buildApp(deps, documentText, server.port === 0 ? baseUrl : publicUrl);
  // What the start took nobody waited for.
  loopDelay.takeMs();

  const shutdown = new GatewayShutdown({ deps, publicServer, internalServer, watchedClock, simulator });
  const adminUrl = `${internalServer.url}/admin`;
  const demo = await introduceEmbedded(config, deps, { baseUrl, mcpUrl, adminUrl, adminToken }).catch(
    async (error: unknown) => {
      await shutdown.stop();
      throw error;
    },
  );
  // After the demo agent: whoever has waited for /readyz finds its file.
  internalServer.begin({
    checks: {
      ledger: () => deps.store.isReady(),
      clock: () => checkTimes(deps.store.times(), clock.now(), clock.believedInMs()),
      draining: () => !publicServer.draining(),
    },
    admin,
  });

  return {
    deps,
    baseUrl,
    mcpUrl,
    internalUrl: internalServer.url,
    adminToken,
    demo,
    drain: () => shutdown.drain(),
    stop: () => shutdown.stop(),
  };
}

const startBundledSimulator = async (config: Config): Promise<Simulator | null> =>
  needsBundledSimulator(config)
    ? startSimulator({ port: 0, host: LOOPBACK, paceMs: SIMULATOR_PACE_MS, videoMs: SIMULATOR_VIDEO_MS })
    : null;

const buildAdminOf = ({ store, catalog, workers, bills, config, gateway, clock, log }: Deps, token: Secret) =>
  buildAdmin({
    token,
    callIdHeader: gateway.callIdHeader,
    ledger: store.ledger,
    history: store.history,
    audit: store.audit,
    catalog,
    markets: store.markets,
    feeds: workers.feeds,
    bills,
    config,
    pepper: store.peppers[0],
    ids: gateway.ids,
    clock,
    log,
  });

/** Writes for the operator's command where this gateway is, and prepares the demo agent where one is wanted. */
async function introduceEmbedded(
  { storage, demo }: Config,
  { store, gateway, clock, log }: Deps,
  addresses: DemoAddresses,
): Promise<Demo | null> {
  if (storage.mode === 'cluster') return null;
  const { dataDir } = storage;
  warnOfOthers(dataDir, log);
  writeAdminUrl(dataDir, addresses.adminUrl);
  const { ledger, audit, peppers } = store;
  const parts = { ledger, audit, ids: gateway.ids, clock, pepper: peppers[0], dataDir };
  return ensureDemo({ ...parts, ...addresses }, demo);
}

/** A jump of the clock is confirmed by the operator of one process, or by the other stores of a cluster. */
const clockCare = ({ storage }: Config): Pick<Parameters<typeof watchClock>[0], 'remedy' | 'save'> =>
  storage.mode === 'cluster'
    ? { remedy: CONFIRMED_BY_REDIS, save: null }
    : {
        remedy: 'If it is right, run faregate clock accept, or start the gateway again.',
        save: (reading) => writeClockFile(storage.dataDir, reading),
      };

/** Whoever may write there may replace the ledger, and read every secret that is made in it. */
function warnOfOthers(dataDir: string, log: Log): void {
  const open = findWritableByOthers(dataDir);
  if (open === null) return;
  const { path, why, todo } = open;
  log.warn(`other users may change the data folder: ${path}, ${why}. ${todo}`, { path: dataDir });
}
