import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { createApiKey, hashApiKey } from '#core/accounts/api-key.ts';
import { loadOrCreatePepper } from '#core/accounts/pepper-file.ts';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { type EmbeddedLedger, openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import type { AgentView } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import { parseNanoUsd } from '#core/money.ts';
import { LAST_CHUNK_WAIT_MS } from '../../api/inference/hold/ledger-retries.ts';
import { createDraw, type Draw } from '../ledger/history/random.ts';
import { compileCache } from './compile-cache.ts';
import { until } from './gateway.ts';
import { startTestProvider, type TestProvider } from './provider.ts';

/*
 * The promise: whatever cost a client was shown is what its call was charged, and nothing else was; a gateway that
 * is killed at any moment loses no such charge, makes no second one and leaves no hold behind. One loss is the operator's: an
 * answer waits at most `LAST_CHUNK_WAIT_MS` for the disk, so behind a slower one a kill may leave a call that was shown a cost and is free.
 */

export interface KillSummary {
  kills: number;
  callsTold: number;
  streamsTold: number;
  callsCut: number;
  refused: number;
  /** Shown a cost after the wait for the disk was over, and free because of a kill. */
  freed: number;
}

interface Told {
  agentId: number;
  callId: number;
  costNanoUsd: bigint;
  stream: boolean;
  /** As long as the caller waited for all of it. */
  tookMs: number;
}

export interface Caller {
  agentId: number;
  key: string;
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const AGENTS = 6;
const CALLERS_PER_AGENT = 6;
const GRANT_NANO_USD = 500_000_000n;
/** Of calls and of streams each, in one life of the gateway. */
const TOLD_BEFORE_KILL = 10;

/** Kills a loaded gateway `kills` times and compares after each. Throws with the seed at the first broken promise. */
export async function killGateway(kills: number, seed: number): Promise<KillSummary> {
  const draw = createDraw(seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'faregate-kill-'));
  const provider = await startTestProvider();
  const summary: KillSummary = { kills: 0, callsTold: 0, streamsTold: 0, callsCut: 0, refused: 0, freed: 0 };
  const told = new Map<number, Told>();
  try {
    const callers = await prepareCallers(dataDir, GRANT_NANO_USD);
    await writeFile(join(dataDir, 'faregate.yaml'), yamlOf(provider));
    for (let kill = 0; kill < kills; kill++) {
      provider.reset();
      await loadAndKill(dataDir, callers, draw, told, summary);
      summary.freed = await compare(dataDir, callers, told);
      summary.kills++;
    }
    return summary;
  } catch (error) {
    throw new Error(
      `kill ${summary.kills} of seed ${seed}: ${error instanceof Error ? error.message : error}`,
      {
        cause: error,
      },
    );
  } finally {
    await provider.close();
    await rm(dataDir, { recursive: true });
  }
}

const yamlOf = ({ baseUrl }: TestProvider): string =>
  `server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 10000 }
capacity: { eventLoopLagMs: 60000 }
providers: [{ id: sim, kind: simulator, baseUrl: ${baseUrl} }]
`;

/** Agents with a key and credit each, in a folder that no gateway has had yet. */
export async function prepareCallers(dataDir: string, grantNanoUsd: bigint): Promise<Caller[]> {
  const ledger = await openEmbeddedLedger({ dataDir, clock: systemClock, log: silent });
  const pepper = loadOrCreatePepper(dataDir, { ledgerInUse: false });
  const callers: Caller[] = [];
  for (let agentId = 1; agentId <= AGENTS; agentId++) {
    const { key, prefix } = createApiKey();
    const set = {
      source: 'test',
      sourceVersion: 1,
      status: 'active',
      name: `a${agentId}`,
      token: null,
    } as const;
    await ledger.execute({ type: 'set_agent', agentId, mode: 'create', ...set });
    const expiresAtMs = startOfDayMs(Date.now()) + 8 * DAY_MS;
    await ledger.execute({
      type: 'grant',
      agentId,
      grantId: `g${agentId}`,
      expiresAtMs,
      nanoUsd: grantNanoUsd,
    });
    await ledger.execute({
      type: 'put_key',
      readVersion: null,
      agentId,
      keyId: agentId,
      label: 'kill',
      prefix,
      hash: hashApiKey(key, pepper),
      limit: null,
      actingKeyId: null,
      madeOverMcp: false,
      limits: { activeKeys: 10, mcpKeysPerDay: 20 },
    });
    callers.push({ agentId, key });
  }
  await ledger.close();
  return callers;
}

async function loadAndKill(
  dataDir: string,
  callers: readonly Caller[],
  draw: Draw,
  told: Map<number, Told>,
  summary: KillSummary,
): Promise<void> {
  const { child, baseUrl } = await startChild(dataDir);
  const dispatcher = new Agent({ connections: null });
  let killed = false;
  const loops = callers.flatMap((caller) =>
    Array.from({ length: CALLERS_PER_AGENT }, async () => {
      while (!killed) await oneCall(baseUrl, dispatcher, caller, draw, told, summary);
    }),
  );
  // A life in which nothing was told proves nothing, and a busy machine takes seconds for the first answers.
  const { callsTold, streamsTold } = summary;
  await until(
    () => Math.min(summary.callsTold - callsTold, summary.streamsTold - streamsTold) >= TOLD_BEFORE_KILL,
  );
  // Real time on purpose: the kill must fall anywhere in the life of a call.
  await new Promise((resolve) => setTimeout(resolve, 150 + draw(600)));
  killed = true;
  child.kill('SIGKILL');
  await once(child, 'exit');
  await Promise.all(loops);
  await dispatcher.destroy();
}

/** `api/main.ts` over this folder and the configuration in it. */
export async function startChild(dataDir: string): Promise<{ child: ChildProcess; baseUrl: string }> {
  const child = spawn(process.execPath, ['api/main.ts'], {
    env: {
      PATH: process.env.PATH,
      ...compileCache,
      FAREGATE_CONFIG: join(dataDir, 'faregate.yaml'),
      FAREGATE_DATA: dataDir,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const baseUrl = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output);
      if (found !== null) resolve(found[0]);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) =>
      reject(new Error(`The gateway ended with ${code}: ${output.slice(-2_000)}`)),
    );
  });
  return { child, baseUrl };
}

async function oneCall(
  baseUrl: string,
  dispatcher: Agent,
  { agentId, key }: Caller,
  draw: Draw,
  told: Map<number, Told>,
  summary: KillSummary,
): Promise<void> {
  const stream = draw(2) === 0;
  const askedMs = performance.now();
  const body = JSON.stringify({
    model: 'faregate-sim/small',
    messages: [{ role: 'user', content: `Kill me if you can, ${draw(1_000)}` }],
    max_tokens: 1 + draw(200),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  });
  try {
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(`${baseUrl}/chat/completions`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    const text = await answer.text();
    if (statusCode !== 200) {
      summary.refused++;
      return;
    }
    const cost = /"cost":([\d.]+)/.exec(text)?.[1];
    const costNanoUsd = cost === undefined ? null : parseNanoUsd(cost);
    if (costNanoUsd === null) throw new Error('an answer without a cost');
    const callId = Number(headers['x-service-call-id']);
    told.set(callId, { agentId, callId, costNanoUsd, stream, tookMs: performance.now() - askedMs });
    if (stream) summary.streamsTold++;
    else summary.callsTold++;
  } catch {
    summary.callsCut++;
  }
}

async function compare(
  dataDir: string,
  callers: readonly Caller[],
  told: ReadonlyMap<number, Told>,
): Promise<number> {
  const ledger = await openEmbeddedLedger({ dataDir, clock: systemClock, log: silent });
  try {
    let freed = 0;
    for (const each of told.values()) if (await isFreed(ledger, each)) freed++;
    for (const { agentId } of callers) await compareAgent(ledger, agentId);
    return freed;
  } finally {
    await ledger.close();
  }
}

async function isFreed(ledger: EmbeddedLedger, { callId, costNanoUsd, tookMs }: Told): Promise<boolean> {
  const record = await ledger.history.find(callId);
  if (record === null || record === 'unavailable')
    throw new Error(`call ${callId} was shown a cost and is lost`);
  if (record.chargedNanoUsd === costNanoUsd) return false;
  if (record.chargedNanoUsd === 0n && tookMs >= LAST_CHUNK_WAIT_MS) return true;
  throw new Error(`call ${callId} was shown ${costNanoUsd} and charged ${record.chargedNanoUsd}`);
}

export async function compareAgent(ledger: EmbeddedLedger, agentId: number): Promise<void> {
  const view = await ledger.readAgent(agentId);
  if (view === null || view === 'unavailable') throw new Error(`agent ${agentId} is lost`);
  const free = view.lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n);
  const held = view.holds.reduce((sum, hold) => sum + hold.nanoUsd, 0n);
  if (view.grantedNanoUsd !== free + held + view.chargedNanoUsd + view.expiredNanoUsd) {
    throw new Error(`agent ${agentId}: credit was made or lost`);
  }
  // A video goes on with the next process.
  if (view.holds.some((hold) => hold.pending === null && hold.kind !== 'video'))
    throw new Error(`agent ${agentId}: a hold is stuck`);
  const charged = await chargedInHistory(ledger, view);
  if (charged !== view.chargedNanoUsd) {
    throw new Error(`agent ${agentId}: calls say ${charged}, the ledger ${view.chargedNanoUsd}`);
  }
}

/** Sum of all call records, page by page. */
async function chargedInHistory(ledger: EmbeddedLedger, { agentId }: AgentView): Promise<bigint> {
  let sum = 0n;
  let beforeCallId: number | undefined;
  for (;;) {
    const page = await ledger.history.list({
      agentId,
      limit: 50,
      ...(beforeCallId === undefined ? {} : { beforeCallId }),
    });
    if (page === 'unavailable') throw new Error('no history');
    for (const record of page) sum += record.chargedNanoUsd;
    const last = page.at(-1);
    if (last === undefined || page.length < 50) return sum;
    beforeCallId = last.callId;
  }
}
