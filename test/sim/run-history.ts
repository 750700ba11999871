import { createHash } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { pick } from '../ledger/history/random.ts';
import { type FaultName, strike } from './faults.ts';
import { checkAtEnd, isAtRest, type Losses } from './final-checks.ts';
import { realPorts, type SimPorts } from './ports.ts';
import { grantOp, keyOp, type OpKind, statusOp } from './sim-op.ts';
import { SimWorld, type Violation } from './sim-world.ts';

export interface HistoryOptions {
  ports?: SimPorts;
  /** Only these. */
  faults?: readonly FaultName[];
  trace?: (line: string) => void;
}

export interface History {
  seed: number;
  violation: Violation | null;
  coverage: ReadonlyMap<string, number>;
  losses: Losses;
  steps: number;
}

/** One history of the whole cluster: a calm beginning, some seconds full of faults, quiet hours, and what has come of it. */
export async function runHistory(
  seed: number,
  { ports = realPorts, faults, trace }: HistoryOptions = {},
): Promise<History> {
  const world = new SimWorld({ seed, ports, agents: 4, trace: trace ?? null });
  const { draw } = world;
  await beginHistory(world);
  const rough = pick(draw, [1, 2, 4]);
  world.network = {
    requestLost: 3 * rough,
    replyLost: 6 * rough,
    slow: 4 * rough,
    astray: 4 * rough,
    messageLost: 20 * rough,
  };
  world.fates = { twice: 10 * rough, ackLost: 12 * rough, lost: 8 * rough, late: 6 * rough };
  world.copies.failsOneIn = 60 / rough;
  world.mortality = { worker: 2 * rough, recovery: 30 * rough, pod: 8 * rough };
  const active = { faults: 5 * rough, pauseMs: 400, among: faults };
  await runRounds(world, 20 + draw(40), active);
  if (draw(3) === 0) {
    world.setPace(QUIET_PACE);
    world.mortality = { worker: 0, recovery: 10, pod: 1 };
    await runRounds(world, 10, { faults: 4 * rough, pauseMs: 2 * MINUTE_MS, among: faults });
    world.setPace(1);
    await runRounds(world, 5 + draw(15), active);
  }
  return await end(world);
}

/** A day as operators know it: thousands of calls, and one fault. */
export async function runRealHistory(
  seed: number,
  calls: number,
  { ports = realPorts, trace }: HistoryOptions = {},
): Promise<History> {
  const world = new SimWorld({ seed, ports, agents: 16, trace: trace ?? null });
  const { draw } = world;
  await beginHistory(world, PLENTY_NANO_USD);
  const faultAt = draw(calls);
  for (let i = 0; i < calls && world.violation === null; i++) {
    world.startCall('usual');
    if (i % 250 === 0) for (const group of world.groups) world.remember(group);
    if (i === faultAt) strike(world);
    await world.runFor(draw(160));
  }
  return await end(world);
}

const PLENTY_NANO_USD = 1_000_000_000_000n;

/** Agents with keys and credit, in a calm world. */
export async function beginHistory(world: SimWorld, creditNanoUsd = 0n): Promise<void> {
  for (const agentId of world.agentIds) {
    world.start(statusOp(world, agentId, 'active'));
    for (let i = 0; i < 2; i++) world.start(keyOp(world, agentId, creditNanoUsd === 0n && i === 1));
    if (creditNanoUsd > 0n) world.start(grantOp(world, agentId, creditNanoUsd, 5));
    else for (let i = 0; i < 2; i++) world.startOp('grant', agentId);
  }
  await world.runFor(4 * SECOND_MS);
}

const QUIET_PACE = 15;

interface Pace {
  /** In a hundred rounds. */
  faults: number;
  pauseMs: number;
  among: readonly FaultName[] | undefined;
}

async function runRounds(world: SimWorld, rounds: number, { faults, pauseMs, among }: Pace): Promise<void> {
  const { draw } = world;
  for (let round = 0; round < rounds && world.violation === null; round++) {
    if (draw(100) < 70) world.startCall('mixed');
    // More at once than one agent may run.
    if (draw(100) === 0) for (let i = 0; i < 12; i++) world.startCall('small', 1);
    if (draw(100) < 14) world.startOp(pick(draw, OPS), pick(draw, world.agentIds));
    if (draw(100) < 25) for (const group of world.groups) world.remember(group);
    if (draw(100) < faults) strike(world, among);
    await world.runFor(draw(8) === 0 ? draw(8 * pauseMs) : draw(pauseMs));
  }
}

const OPS = [
  ...['grant', 'grant', 'move', 'move', 'move', 'put_key', 'change_key'],
  ...['revoke_key', 'start_upload', 'set_agent'],
] as const satisfies OpKind[];

async function end(world: SimWorld): Promise<History> {
  world.heal();
  await comeToRest(world);
  if (world.violation === null) await probe(world);
  const losses = world.violation === null ? checkAtEnd(world) : new Map();
  const { seed, violation, coverage, time } = world;
  return { seed, violation, coverage, losses, steps: time.steps };
}

/** Until everything is at rest, or should long have been. */
export async function comeToRest(world: SimWorld): Promise<void> {
  for (const host of world.hosts) {
    // What stood still for long has been started anew.
    if (host.process.standsStill) world.kill(host);
  }
  for (let round = 0; round < 16 && world.violation === null; round++) {
    // What has waited comes in the first moments; after that nothing happens any more until something falls due.
    world.setPace(round === 0 ? 1 : QUIET_PACE);
    await world.runFor(round === 0 ? 5 * SECOND_MS : 6 * SECOND_MS);
    if (isAtRest(world)) return;
    world.standStill(round < 4 ? 5 * MINUTE_MS : 15 * MINUTE_MS);
  }
}

/** Who has credit can use it again: nothing that is over keeps a shard from starting calls. */
async function probe(world: SimWorld): Promise<void> {
  const { time } = world;
  const ahead = world.groups.flatMap((group) => group.shards.map((shard) => group.store(shard).meta.lastMs));
  const aheadMs = Math.max(...ahead) - time.nowMs;
  // Of a start whose caller and whose Redis were both five minutes ahead.
  if (aheadMs > TIME_AHEAD_MAX_MS) world.broken('TIME_AHEAD', { aheadMs });
  if (aheadMs > 0) world.standStill(aheadMs);
  world.setPace(1);
  // Who takes a shard over may rebuild it once more: then a caller that asks again is served.
  for (let triesLeft = 3; triesLeft > 0; triesLeft--) {
    const before = world.calls.length;
    for (const agentId of world.agentIds) world.startCall('small', agentId);
    await world.runFor(5 * SECOND_MS);
    await comeToRest(world);
    const refused = world.calls
      .slice(before)
      .find(({ refusal }) => refusal !== null && !EXPECTED_REFUSALS.has(refusal));
    if (refused === undefined) return;
    if (triesLeft > 1) continue;
    world.broken('NO_CALL_AFTER_HEALING', { agentId: refused.plan.agentId, refusal: refused.refusal });
  }
}

const TIME_AHEAD_MAX_MS = 10 * MINUTE_MS;

const EXPECTED_REFUSALS: ReadonlySet<string> = new Set([
  'balance',
  'agent_suspended',
  'agent_inactive',
  'key_limit',
  'rate',
  'running_calls',
]);

/** What one history did, so that two can be told apart. Nonces are drawn by the product, and only ever compared. */
export async function digestOf(seed: number): Promise<string> {
  const hash = createHash('sha256');
  const nonces = new Map<string, string>();
  const plain = (line: string): string =>
    line.replace(/"nonce":"([0-9a-f]{16})"/g, (_, nonce: string) => {
      if (!nonces.has(nonce)) nonces.set(nonce, `nonce ${nonces.size}`);
      return `"nonce":"${nonces.get(nonce)}"`;
    });
  const trace = (line: string): void => void hash.update(`${plain(line)}\n`);
  const { violation, steps } = await runHistory(seed, { trace });
  return hash.update(`${violation?.rule} ${steps}`).digest('hex');
}
