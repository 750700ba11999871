import { appendFileSync, openSync, writeSync } from 'node:fs';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { callEnd, callFacts, keyLimits, pendingPrice, savedPrice } from './commands.ts';
import { createDraw } from './history/random.ts';
import { type Told, toLine } from './kill-told.ts';

/**
 * A process that runs a ledger under load until it is killed, and says what it tells its clients, each only once
 * that is durable. Arguments: folder, seed, and the file to tell in.
 */
const [dataDir = '', seed = '1', toldFile = ''] = process.argv.slice(2);
const AGENTS = 8;
const CALLERS_PER_AGENT = 4;
const limits = { callsPerMinute: 60_000_000, burst: 1_000_000, runningCalls: 1_000, dailyShareNanoUsd: null };

// A snapshot every 0.3 s instead of 5 minutes: kills are to fall into them too.
const clock = {
  ...systemClock,
  setTimer: (ms: number, fire: () => void) => systemClock.setTimer(ms / 1_000, fire),
};
const say = (event: string): void => appendFileSync(`${toldFile}.log`, `${event}\n`);
const log = { info: say, warn: say, error: say };
const random = createDraw(Number(seed));
const ids = createIdSource(clock);
const ledger = await openEmbeddedLedger({ dataDir, clock, log });
let lastId = ids.next();
const out = openSync(toldFile, 'a');

const tell = (fact: Told): void => void writeSync(out, toLine(fact));

let refusing = false;

/** The result once it is durable; `null` when it was refused or nobody knows. */
async function ask<C extends Command>(command: C): Promise<ResultOf<C> | null> {
  const { result, durable } = await ledger.execute(command);
  if ((await durable) !== 'durable' || !result.ok) {
    if (!result.ok && result.reason === 'unavailable' && !refusing) {
      refusing = true;
      say('refusing');
    }
    // A refusal takes no turn of the event loop by itself.
    await new Promise((resolve) => setImmediate(resolve));
    return null;
  }
  refusing = false;
  return result as ResultOf<C>;
}

async function grant(agentId: number): Promise<void> {
  const grantId = `grant-${++lastId}`;
  const expiresAtMs = startOfDayMs(clock.now()) + (1 + random(8)) * DAY_MS;
  const what = { agentId, grantId, nanoUsd: BigInt(1 + random(1_000_000)), expiresAtMs };
  if ((await ask({ type: 'grant', ...what })) !== null) tell({ what: 'granted', ...what });
}

async function key(agentId: number): Promise<void> {
  const keyId = ++lastId;
  const hash = `hash-${keyId}`;
  const put = {
    keyId,
    label: 'key',
    prefix: 'fg_prefix',
    hash,
    limit: null,
    actingKeyId: null,
    madeOverMcp: false,
  };
  const manyKeys = { ...keyLimits, activeKeys: 1_000 };
  if ((await ask({ type: 'put_key', readVersion: null, agentId, ...put, limits: manyKeys })) === null) return;
  tell({ what: 'key', agentId, keyId, hash });
  if ((await ask({ type: 'revoke_key', readVersion: null, agentId, keyId, actingKeyId: null })) === null)
    return;
  tell({ what: 'key_revoked', agentId, hash });
}

async function settle(agentId: number, callId: number, costNanoUsd: bigint): Promise<void> {
  const settled = await ask({ type: 'settle', agentId, callId, costNanoUsd, end: callEnd, cause: 'end' });
  if (settled?.ok) tell({ what: 'charged', agentId, callId, nanoUsd: settled.chargedNanoUsd });
}

async function call(agentId: number): Promise<void> {
  const callId = ids.next();
  const hold = { nanoUsd: BigInt(random(2_000)), timeLimitMs: 780_000, callerNowMs: clock.now() };
  const start = { agentId, keyId: agentId, callId, nonce: `process-${process.pid}`, kind: 'text' } as const;
  const facts = { call: callFacts, price: savedPrice, limits };
  if ((await ask({ type: 'reserve', ...start, ...hold, ...facts })) === null) return;
  tell({ what: 'started', agentId, callId });
  const generationId = `gen-${callId}`;
  if (random(3) === 0) await ask({ type: 'renew', agentId, callId, generationId, holdsSlot: true });
  // Now and then a call goes on until the process dies.
  if (random(50) === 0) return;
  if (random(4) === 0) {
    const pending = { ...pendingPrice, generationId };
    if ((await ask({ type: 'finish', agentId, callId, end: callEnd, pending })) === null || random(3) === 0)
      return;
  }
  await settle(agentId, callId, BigInt(random(2_500)));
}

async function settlePending(): Promise<void> {
  const holds = await ledger.listHolds();
  if (holds === 'unavailable') return;
  for (const hold of holds.slice(0, 20)) {
    if (hold.pending !== null) await settle(hold.agentId, hold.callId, BigInt(random(2_500)));
  }
}

async function work(agentId: number): Promise<never> {
  for (;;) {
    const chance = random(100);
    if (chance < 3) await grant(agentId);
    else if (chance < 5) await key(agentId);
    else if (chance < 6) await settlePending();
    else await call(agentId);
  }
}

for (let agentId = 1; agentId <= AGENTS; agentId++) {
  const agent = { agentId, mode: 'upsert', source: 'operator', sourceVersion: 1, status: 'active' } as const;
  await ask({ type: 'set_agent', ...agent, name: `agent ${agentId}`, token: null });
  const put = { label: 'key', prefix: 'fg_prefix', hash: `hash-${agentId}`, limit: null, actingKeyId: null };
  await ask({
    type: 'put_key',
    readVersion: null,
    agentId,
    keyId: agentId,
    ...put,
    madeOverMcp: false,
    limits: keyLimits,
  });
  await grant(agentId);
}
for (let i = 0; i < AGENTS * CALLERS_PER_AGENT; i++) void work(1 + (i % AGENTS));
// Callers wait for the disk; somebody has to ask while it hangs.
setInterval(
  () => void ask({ type: 'renew', agentId: 1, callId: 1, generationId: null, holdsSlot: true }),
  50,
);
