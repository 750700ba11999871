import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type NanoUsd, parseNanoUsd } from '#core/money.ts';
import { freePort } from '../services/free-port.ts';
import type { ClusterStores } from '../support/cluster-stores.ts';
import { OUTPUT_TOKENS_MAX, type Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { startChild } from './child.ts';
import { type Agent, prepareAgents } from './prepare-agents.ts';
import { untilReady } from './until-ready.ts';

/** The gateway under test: `node api/main.ts`, its own folder, everything on. */
export interface GatewayUnderTest {
  target: Target;
  agentIds: readonly number[];
  /** Once nothing runs: free credit, what is held and how many calls run, over all agents of the bench. */
  settledMoney(patienceMs?: number): Promise<Money>;
  /** Prometheus text of the internal port. */
  metrics(): Promise<string>;
  /** Records of a topic of markets, where it is embedded. */
  feed(topic: string, records: readonly object[]): Promise<void>;
  stop(): Promise<void>;
}

export interface Money {
  balanceNanoUsd: NanoUsd;
  reservedNanoUsd: NanoUsd;
  runningCalls: number;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRY = 'api/main.ts';
export const gatewayEntry = join(ROOT, ENTRY);
/** As in the Makefile's `run`. */
export const GATEWAY_FLAGS = ['--max-semi-space-size=32'];
/** Enough that no agent reaches its start rate: each may start 60,000 calls at once and 1,000 a second. */
const AGENTS = 16;
/** A minute's, of one key at the bench. */
const REQUESTS_MAX = 60_000;
/** Of the one address that all callers of the bench have. */
const WEIGHT_MAX = 1_000_000_000;
const SETTLED_MS = 10_000;
const POLL_MS = 50;

export interface GatewayOptions {
  providerPort: number;
  core: number | null;
  /** Another tree whose gateway is started; by default this one. */
  root?: string;
  /** Without one it is embedded. */
  stores?: Pick<ClusterStores, 'yaml' | 'adminToken'>;
  /** So many models in all, of which one is called; without it, all of the canned provider in every way. */
  models?: number;
}

export async function startGateway(options: GatewayOptions): Promise<GatewayUnderTest> {
  const { providerPort, core } = options;
  // In the checkout, not in a temporary folder that may be memory: the commit has to meet a real disk.
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.cache/bench-'));
  const configFile = join(folder, 'faregate.yaml');
  const stores = options.stores ?? (await embeddedStores(folder));
  await writeFile(configFile, stores.yaml + configText(providerPort, modelsOf(options.models)));
  const port = await freePort();
  const internalPort = await freePort();
  const child = startChild([...GATEWAY_FLAGS, join(options.root ?? ROOT, ENTRY)], {
    core,
    env: {
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      FAREGATE_DATA: join(folder, 'data'),
      FAREGATE_CONFIG: configFile,
    },
  });
  const end = async (): Promise<void> => {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const internalUrl = `http://127.0.0.1:${internalPort}`;
    await untilReady(child, `${internalUrl}/readyz`);
    const agents = await prepareAgents({ url: `${internalUrl}/admin`, token: stores.adminToken }, AGENTS);
    const origin = `http://127.0.0.1:${port}`;
    return {
      target: {
        name: 'gateway',
        pid: child.pid,
        origin,
        path: '/v1/chat/completions',
        authorizations: agents.map(({ key }) => `Bearer ${key}`),
        showsNanoUsd: true,
      },
      agentIds: agents.map(({ agentId }) => agentId),
      settledMoney: (patienceMs = SETTLED_MS) => settledMoney(`${origin}/v1`, agents, patienceMs),
      metrics: async () => (await fetch(`${internalUrl}/metrics`)).text(),
      async feed(topic, records) {
        const res = await fetch(`${internalUrl}/admin/feeds/${topic}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${stores.adminToken}` },
          body: JSON.stringify({ records }),
        });
        if (res.status !== 200) throw new Error(`Records of ${topic} were refused: ${await res.text()}`);
      },
      stop: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** `all` passes whole answers on, `assembled` streams them; the last two speak one format each. */
const providers = ['all', 'assembled', 'chat', 'messages'] as const;
export type BenchProvider = (typeof providers)[number];

export const modelAt = (provider: BenchProvider, model: string): string =>
  provider === 'all' ? model : model.replace('/', `-${provider}/`);

interface ServedModel {
  id: string;
  provider: BenchProvider;
  model: string;
}

function modelsOf(count: number | undefined): ServedModel[] {
  if (count === undefined) {
    return Object.values(benchModels).flatMap((model) =>
      providers.map((provider) => ({ id: modelAt(provider, model), provider, model })),
    );
  }
  const model = benchModels.atOnce;
  return Array.from({ length: count }, (_, n) => ({
    id: n === 0 ? model : `bench/other-${n}`,
    provider: 'all',
    model,
  }));
}

const videoModel = {
  id: 'bench/film',
  provider: 'all',
  model: 'film',
  resolutions: ['720p'],
  aspectRatios: ['16:9'],
  durations: [5],
  pricing: { duration_seconds: '0.05' },
};
/** What its model takes. */
export const videoOrder = {
  model: videoModel.id,
  prompt: 'A fare gate at dawn.',
  duration: 5,
  resolution: '720p',
  aspect_ratio: '16:9',
};

/** Every limit that a load test would only measure itself against is out of the way. */
function configText(providerPort: number, models: readonly ServedModel[]): string {
  const pricing = { prompt: '0.0000001', completion: '0.0000004' };
  const baseUrl = `http://127.0.0.1:${providerPort}/api/v1`;
  const config = {
    limits: {
      callsPerMinute: 60_000,
      burst: 60_000,
      runningCalls: 2_000,
      mcpRequestsPerMinute: REQUESTS_MAX,
      mcpBurst: REQUESTS_MAX,
      videoReadsPerMinute: REQUESTS_MAX,
      marketWeightPerMinute: WEIGHT_MAX,
    },
    capacity: {
      perCallUsd: '50',
      poolUsd: '1000000',
      dailySharePerAgentUsd: null,
      runningCalls: 5_000,
      eventLoopLagMs: 60_000,
    },
    providers: [
      { id: 'all', kind: 'openrouter', cancel: 'bills_full', baseUrl, catalog: 'none' },
      { id: 'assembled', kind: 'openrouter', cancel: 'stops_billing', baseUrl, catalog: 'none' },
      { id: 'chat', kind: 'openai', cancel: 'bills_full', baseUrl },
      { id: 'messages', kind: 'anthropic', cancel: 'bills_full', baseUrl },
    ],
    models: models.map(({ id, provider, model }) => ({
      id,
      contextLength: 32_768,
      maxOutputTokens: OUTPUT_TOKENS_MAX,
      endpoints: [{ provider, model, pricing }],
    })),
    videoModels: [videoModel],
  };
  // JSON is YAML, each block of it a line.
  return Object.entries(config)
    .map(([block, value]) => `${block}: ${JSON.stringify(value)}\n`)
    .join('');
}

async function embeddedStores(folder: string): Promise<Pick<ClusterStores, 'yaml' | 'adminToken'>> {
  const adminToken = 'admin-token-of-a-gateway-on-the-bench';
  const tokenFile = join(folder, 'admin-token');
  await writeFile(tokenFile, `${adminToken}\n`);
  return { yaml: `admin: ${JSON.stringify({ tokenFile })}\n`, adminToken };
}

async function settledMoney(baseUrl: string, agents: readonly Agent[], patienceMs: number): Promise<Money> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const money = await readMoney(baseUrl, agents);
    const settled = money.runningCalls === 0 && money.reservedNanoUsd === 0n;
    if (settled || waitedMs >= patienceMs) return money;
    await pause(POLL_MS);
  }
}

async function readMoney(baseUrl: string, agents: readonly Agent[]): Promise<Money> {
  const sum: Money = { balanceNanoUsd: 0n, reservedNanoUsd: 0n, runningCalls: 0 };
  for (const { key } of agents) {
    const res = await fetch(`${baseUrl}/balance`, { headers: { authorization: `Bearer ${key}` } });
    const balance = JSON.parse(await res.text());
    sum.balanceNanoUsd += usd(balance.balance_usd);
    sum.reservedNanoUsd += usd(balance.reserved_usd);
    sum.runningCalls += balance.running_calls;
  }
  return sum;
}

function usd(text: string): NanoUsd {
  const nano = parseNanoUsd(text);
  if (nano === null) throw new Error(`No amount of dollars in the balance: ${text}`);
  return nano;
}
