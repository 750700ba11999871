import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { createKey } from '#core/accounts/create-key.ts';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import type { LoopDelay } from '#core/capacity/loop-delay.ts';
import { DAY_MS, type MachineClock, startOfDayMs, systemClock } from '#core/clock.ts';
import type { Command } from '#core/ledger/command.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { GATE_TIMEOUT_MS } from '#core/limits.ts';
import type { Log, LogFields } from '#core/log.ts';
import { formatUsd, parseNanoUsd } from '#core/money.ts';
import { createProbe } from '#core/provider-health/probe-provider.ts';
import { type Config, loadConfig } from '../../api/config/config.ts';
import { createEndpointHealth } from '../../api/inference/routing/endpoint-health.ts';
import { type RunningGateway, startGateway } from '../../api/start/start-gateway.ts';
import { PATIENT_MS, withPatience } from './patience.ts';
import { startTestProvider, type TestProvider } from './provider.ts';
import { type SharedCluster, sharedCluster, untilProjected } from './shared-cluster.ts';

export interface TestGatewayOptions {
  clock?: MachineClock;
  /** YAML lines put in the place of the default ones. */
  yaml?: string;
  /** Of the first agent; default 5. */
  creditUsd?: string;
  provider?: TestProvider;
  /** `false`: on a cluster without its S3 store. */
  files?: boolean;
  dataDir?: string;
  /** Changes the configuration that was read, such as to a kind of provider that no configuration names. */
  change?: (config: Config) => Config;
  /** Default: this machine is never late, however busy it is with tests. */
  loopDelay?: LoopDelay;
}

export interface TestAgent {
  agentId: number;
  keyId: number;
  key: string;
  openai: OpenAI;
}

export interface TestGateway extends AsyncDisposable {
  running: RunningGateway;
  provider: TestProvider;
  baseUrl: string;
  dataDir: string;
  /** Watched. A reload reads this process's environment, so a test that changes the file stubs FAREGATE_CONFIG. */
  configFile: string;
  agent: TestAgent;
  openai: OpenAI;
  logged: LoggedLine[];
  newAgent(options?: { creditUsd?: string; status?: AgentStatus }): Promise<TestAgent>;
  newKey(agentId: number, limitUsd?: string): Promise<TestAgent>;
  post(body: unknown, options?: PostOptions): Promise<Response>;
  balance(agent?: TestAgent): Promise<Record<string, string>>;
  view(agent?: TestAgent): Promise<AgentView>;
  /** Newest first, of the first agent. */
  calls(agent?: TestAgent): Promise<CallRecord[]>;
  /** Once nothing runs and nothing is held: what a call leaves behind, success or not. */
  settled(agent?: TestAgent): Promise<AgentView>;
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  stop(): Promise<void>;
}

export interface LoggedLine {
  event: string;
  fields: LogFields | undefined;
}

interface PostOptions {
  agent?: TestAgent;
  headers?: Record<string, string>;
  path?: string;
  signal?: AbortSignal;
}

/** The model of most tests: imported from the scripted provider, with its prices. */
export const MODEL = 'faregate-sim/small';

const defaultYaml = (provider: TestProvider): string => `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: sim, kind: simulator, cancel: bills_full, baseUrl: ${provider.baseUrl} }
`;

const neverLate: LoopDelay = { takeMs: () => 0, stop() {} };

/** Of all gateways of this process: in a cluster they share their agents. */
let lastAgentId = 0;
/** Who says what agents of this process are: an id that somebody else has taken is refused, and not taken for a repetition. */
const SOURCE = `test-${randomUUID()}`;

/** The real gateway on free ports, over a real journal in a temporary folder, in front of a scripted provider. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { clock = systemClock } = options;
  const cluster = sharedCluster();
  const provider = options.provider ?? (await startProviderOf(cluster));
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'faregate-test-')));
  const logged: LoggedLine[] = [];
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  const log: Log = { info: note, warn: note, error: note };
  const yaml =
    options.yaml
      ?.replaceAll('PROVIDER_URL', provider.baseUrl)
      .replaceAll('PROVIDER_ORIGIN', new URL(provider.baseUrl).origin) ?? defaultYaml(provider);
  const configFile = join(dataDir, 'faregate.yaml');
  const files = options.files === false ? '' : (cluster?.filesYaml ?? '');
  await writeFile(configFile, yaml + (cluster?.yaml ?? '') + files);
  const read = await loadConfig({ FAREGATE_CONFIG: configFile, FAREGATE_DATA: dataDir });
  const patient = withPatience(read, options.clock === undefined ? PATIENT_MS : GATE_TIMEOUT_MS);
  const config = options.change?.(patient) ?? patient;
  const running = await startGateway(config, { clock, log, loopDelay: options.loopDelay ?? neverLate });
  const { store, gateway } = running.deps;
  const { ledger, history } = store;
  lastAgentId = Math.max(lastAgentId, ...(await listAgentIds(ledger)));

  async function newKey(agentId: number, limitUsd?: string): Promise<TestAgent> {
    const made = await createKey(
      { ledger, ids: gateway.ids, pepper: store.peppers[0] },
      {
        agentId,
        label: 'test',
        limit: limitUsd === undefined ? null : { limitNanoUsd: usd(limitUsd), reset: 'daily' },
        actingKeyId: null,
        limits: { activeKeys: 100, mcpKeysPerDay: 20 },
      },
    );
    if (!made.ok) throw new Error(`key refused: ${made.reason}`);
    const openai = new OpenAI({ apiKey: made.key, baseURL: running.baseUrl, maxRetries: 0 });
    return { agentId, keyId: made.keyId, key: made.key, openai };
  }

  async function told(command: Command): Promise<void> {
    // Done before is done by us: a ledger whose Redis stood still asks once more with the same id.
    const result = await executeDurably(ledger, command);
    if (!result.ok) throw new Error(`${command.type} refused: ${result.reason}`);
  }

  async function newAgent({ creditUsd = '5', status = 'active' as AgentStatus } = {}): Promise<TestAgent> {
    lastAgentId += 1;
    const agentId = lastAgentId;
    await told({
      type: 'set_agent',
      agentId,
      mode: 'create',
      source: SOURCE,
      sourceVersion: 1,
      status: 'active',
      name: `agent ${agentId}`,
      token: null,
    });
    if (usd(creditUsd) > 0n) {
      await told({
        type: 'grant',
        agentId,
        grantId: `${SOURCE}-${agentId}`,
        // By the ledger's day: a test that has moved its own clock on, shortly before midnight, is a day ahead of a real Redis.
        expiresAtMs:
          startOfDayMs((cluster === undefined ? running.deps.clock : systemClock).now()) + 8 * DAY_MS,
        nanoUsd: usd(creditUsd),
      });
    }
    const agent = await newKey(agentId);
    if (status !== 'active') {
      await told({
        type: 'set_agent',
        agentId,
        mode: 'update',
        source: SOURCE,
        sourceVersion: 2,
        status,
        name: `agent ${agentId}`,
        token: null,
      });
    }
    return agent;
  }

  const agent = await newAgent(options.creditUsd === undefined ? {} : { creditUsd: options.creditUsd });

  async function view(of: TestAgent = agent): Promise<AgentView> {
    const found = await ledger.readAgent(of.agentId);
    if (found === null || found === 'unavailable') throw new Error(`no agent: ${found}`);
    return found;
  }

  async function metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const found = await running.deps.registry.getSingleMetric(name)?.get();
    const values = found?.values.filter((value) =>
      Object.entries(labels).every(([label, text]) => value.labels[label] === text),
    );
    return values?.reduce((sum, value) => sum + value.value, 0) ?? 0;
  }

  async function stop(): Promise<void> {
    await running.stop();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true });
    if (options.provider === undefined) await provider.close();
  }

  return {
    running,
    provider: {
      ...provider,
      reset() {
        provider.reset();
        // A breaker that one test opened must not stay open in the next.
        gateway.health.close();
        gateway.health = createEndpointHealth({
          clock,
          log,
          probe: createProbe(clock),
          current: (providerId) => gateway.catalog.provider(providerId),
        });
      },
    },
    baseUrl: running.baseUrl,
    dataDir,
    configFile,
    agent,
    openai: agent.openai,
    logged,
    newAgent,
    newKey,
    view,
    metric,
    stop,
    post: (body, { agent: by = agent, headers = {}, path = '/chat/completions', signal } = {}) =>
      fetch(running.baseUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${by.key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    async balance(of = agent) {
      const res = await fetch(`${running.baseUrl}/balance`, { headers: { 'x-api-key': of.key } });
      if (res.status !== 200) throw new Error(`balance answered ${res.status}`);
      return JSON.parse(await res.text());
    },
    async calls(of = agent) {
      if (cluster !== undefined) await untilProjected(cluster);
      const found = await history.list({ agentId: of.agentId, limit: 50 });
      if (found === 'unavailable') throw new Error('no history');
      return found;
    },
    async settled(of = agent) {
      await until(async () => {
        const { holds, runningCalls } = await view(of);
        return holds.length === 0 && runningCalls === 0;
      });
      return view(of);
    },
    [Symbol.asyncDispose]: stop,
  };
}

/** Where the cluster's worker asks for prices, unless another provider of the same test listens there already. */
function startProviderOf(cluster: SharedCluster | undefined): Promise<TestProvider> {
  const port = cluster?.providerPort ?? 0;
  return port === 0 ? startTestProvider() : startTestProvider({ port }).catch(() => startTestProvider());
}

async function listAgentIds(ledger: Ledger): Promise<number[]> {
  const agents = await ledger.listAgents();
  return agents === 'unavailable' ? [] : agents.map((each) => each.agentId);
}

export function usd(text: string): bigint {
  const nano = parseNanoUsd(text);
  if (nano === null) throw new Error(`no amount: ${text}`);
  return nano;
}

/** What left an agent's balance, as the text that `usage.cost` has. */
export const chargedUsd = (view: AgentView): string => formatUsd(view.chargedNanoUsd);

/** Resolves once the condition holds; asked again after every turn of the event loop. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const endsAt = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`Not within ${timeoutMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export const hello = (extra: object = {}) => ({
  model: MODEL,
  messages: [{ role: 'user' as const, content: 'Hello' }],
  ...extra,
});

/** The events of a stream as they came, without `data: `. */
export async function readEvents(res: Response): Promise<string[]> {
  const text = await res.text();
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
}
