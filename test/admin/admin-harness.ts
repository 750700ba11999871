import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import type { Pepper } from '#core/accounts/api-key.ts';
import type { BillReading } from '#core/bills/bill-watch.ts';
import type { CallHistory } from '#core/calls/call-history.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { createCatalog } from '#core/catalog/create-catalog.ts';
import { ProviderAnswerError } from '#core/catalog/import-source.ts';
import { createIdSource } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { Secret } from '#core/secret.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import { buildAdmin } from '../../api/admin/build-admin.ts';
import type { AdminDeps } from '../../api/admin/context.ts';
import { type Config, loadConfig } from '../../api/config/config.ts';
import { watchConfig } from '../../api/config/watch-config.ts';
import { createInternalServer } from '../../api/http/create-internal-server.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createMemoryAuditLog, type MemoryAuditLog } from '../support/memory-audit-log.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { createMemoryMarketStore, type MemoryMarketStore } from '../support/memory-market-store.ts';

export const TOKEN = 'fg_admin_0123456789012345678901234567890123456789';

const FILE = '/etc/faregate/faregate.yaml';
export const YAML = `
providers:
  - { id: vllm, kind: openai, baseUrl: http://vllm:8000/v1 }
models:
  - id: acme/small
    name: Acme Small
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text]
    endpoints:
      - provider: vllm
        model: small-2026
        pricing: { prompt: "0.0000001", completion: "0.0000004", request: "0" }
`;

/** Beside those of `YAML`. */
export const MEDIA_YAML = YAML.replace(
  'models:',
  '  - { id: hub, kind: openrouter, baseUrl: http://hub:1/v1, catalog: none }\nmodels:',
).concat(`
imageModels:
  - id: acme/painter
    name: Acme Painter
    provider: hub
    model: painter-2026
    pricing:
      - { billable: output_image, unit: image, usd: "0.02", variant: 1k }
      - { billable: input_text, unit: token, usd: "0.000000001" }
videoModels:
  - id: acme/clip
    provider: hub
    model: clip-2026
    resolutions: [720p]
    aspectRatios: ["16:9"]
    durations: [4]
    frameImages: [first_frame]
    pricing: { duration_seconds_720p: "0.050000000000000001", cents_per_image_input: "1.5" }
  - id: other/clip
    provider: hub
    model: other-2026
    resolutions: [720p]
    aspectRatios: ["16:9"]
    durations: [4]
    pricing: { duration_seconds: "0.1" }
`);

/** What a test reads of any answer. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

export interface TestAdmin extends AsyncDisposable {
  /** Ends in `/admin`. */
  url: string;
  dataDir: string;
  clock: FakeClock;
  /** Behind what the admin API sees. */
  ledger: MemoryLedger;
  pepper: Pepper;
  logged: { event: string; fields: unknown }[];
  /** The history's rows. */
  calls: CallRecord[];
  /** What the providers' bills say. */
  bills: BillReading[];
  /** From now on the history's store does not answer. */
  loseHistory(): void;
  /** What a provider answers that is asked for its models; `null`: nothing. Without `videos` it has no list of them. */
  list: { rows: object[] | null; videos: object[] };
  /** What the configuration file holds at the next reload. */
  file: { text: string };
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  audit: MemoryAuditLog;
  markets: { store: MemoryMarketStore; live: LiveMarkets };
  stop(): Promise<void>;
}

export interface TestAdminOptions {
  /** Stands between the admin API and the ledger. */
  wrap?: (ledger: Ledger) => Ledger;
  port?: number;
  /** Default: records of markets come over Kafka. */
  feeds?: (parts: {
    clock: FakeClock;
    ledger: MemoryLedger;
    markets: TestAdmin['markets'];
  }) => AdminDeps['feeds'];
}

/** The real internal server on loopback, over the ledger in memory. */
export async function startTestAdmin({
  wrap = (same) => same,
  port = 0,
  feeds = () => 'kafka',
}: TestAdminOptions = {}): Promise<TestAdmin> {
  const dataDir = mkdtempSync(join(tmpdir(), 'faregate-admin-'));
  const clock = createFakeClock();
  const ledger = createMemoryLedger({ clock });
  const pepper: Pepper = { id: 'test', secret: createSecretKey(randomBytes(32)) };
  const logged: TestAdmin['logged'] = [];
  const note = (event: string, fields?: unknown) => void logged.push({ event, fields });
  const calls: CallRecord[] = [];
  const bills: BillReading[] = [];
  let isHistoryLost = false;
  const file = { text: YAML };
  const list: TestAdmin['list'] = { rows: null, videos: [] };
  const env = { FAREGATE_CONFIG: FILE, FAREGATE_DATA: dataDir };
  const readFile = async () => file.text;
  const started: Config = await loadConfig(env, readFile);
  const catalog = createCatalog({
    settings: started,
    clock,
    log: { info: note, warn: note, error: note },
    fetchJson: async (_, path) => {
      if (path === '/videos/models' && list.videos.length > 0) return { data: list.videos };
      if (path !== '/models') throw new ProviderAnswerError('The provider answered 404.', 404);
      if (list.rows === null) throw new Error('no list');
      return { data: list.rows };
    },
    bundledSimulatorUrl: null,
  });
  const config = watchConfig({
    config: started,
    clock,
    env,
    readFile,
    onChange: (changed) => catalog.apply(changed),
    onReload: () => undefined,
  });
  const answerIds = { ids: createIdSource(clock), callIdHeader: 'x-service-call-id' };
  const audit = createMemoryAuditLog();
  const markets = { store: createMemoryMarketStore(), live: createMemoryLiveMarkets(clock) };
  const admin = buildAdmin({
    ledger: wrap(ledger),
    history: historyOf(calls, () => isHistoryLost),
    catalog,
    markets,
    feeds: feeds({ clock, ledger, markets }),
    bills: { readNow: async () => bills },
    config,
    pepper,
    ...answerIds,
    clock: trustedClock(clock),
    log: { info: note, warn: note, error: note },
    audit,
    token: new Secret(TOKEN),
  });
  const server = createInternalServer({
    ...{ checks: {}, metrics: new Registry(), admin, answerIds, hostNames: [] },
  });
  const bound = await server.listen(port, '127.0.0.1');
  const url = `http://127.0.0.1:${bound}/admin`;

  async function send(method: string, path: string, init: RequestInit): Promise<Answer> {
    const headers = { authorization: `Bearer ${TOKEN}`, ...init.headers };
    const response = await fetch(url + path, { ...init, method, headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  let stopped = false;
  async function stop(): Promise<void> {
    if (stopped) return;
    stopped = true;
    await server.close();
    config.close();
    catalog.close();
    rmSync(dataDir, { recursive: true, force: true });
  }

  return {
    url,
    dataDir,
    clock,
    ledger,
    pepper,
    logged,
    calls,
    bills,
    loseHistory() {
      isHistoryLost = true;
    },
    list,
    file,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: (path, body, headers = {}) =>
      send('POST', path, { headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }),
    audit,
    markets,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const historyOf = (calls: CallRecord[], isLost: () => boolean): CallHistory => ({
  list: async () => (isLost() ? 'unavailable' : calls),
  find: async (callId) => (isLost() ? 'unavailable' : (calls.find((call) => call.callId === callId) ?? null)),
  usage: async () => (isLost() ? 'unavailable' : []),
});
