import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { LedgerEvent, LedgerEventOf } from '#core/events/ledger-event.ts';
import type { ScriptName } from '#core/ledger/cluster/redis-scripts.ts';
import type { Log } from '#core/log.ts';
import { createDraw, type Draw, pick } from '../ledger/history/random.ts';
import { LogOracle } from './log-oracle.ts';
import type { Broken } from './oracle-agent.ts';
import type { SimPorts } from './ports.ts';
import type { Network } from './redis-connection.ts';
import { type AppendFates, SimBroker } from './sim-broker.ts';
import { type CallShape, drawPlan, type SimCall } from './sim-call.ts';
import { SimCopies } from './sim-copies.ts';
import type { SimHost } from './sim-host.ts';
import { changeOfKey, drawOp, hashOf, type OpKind, type SimOp } from './sim-op.ts';
import { SimPod } from './sim-pod.ts';
import { SimProjector } from './sim-projector.ts';
import { SimProvider } from './sim-provider.ts';
import { type NodeData, RedisGroup } from './sim-redis.ts';
import { SimWorker } from './sim-worker.ts';
import { VirtualTime } from './virtual-time.ts';

export interface Violation {
  rule: string;
  facts: object;
  atMs: number;
}

/** How often one process dies at a step of its own, in parts of ten thousand. */
export interface Mortality {
  worker: number;
  recovery: number;
  pod: number;
}

const CALM_NETWORK: Network = { requestLost: 0, replyLost: 0, slow: 0, astray: 0, messageLost: 0 };
const SOUND_LOG: AppendFates = { twice: 0, ackLost: 0, lost: 0, late: 0 };
const IMMORTAL: Mortality = { worker: 0, recovery: 0, pod: 0 };

const SHARDS = 2;
const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
const ID_STEP = 4096;

export interface WorldOptions {
  seed: number;
  ports: SimPorts;
  agents: number;
  /** Its processes doubt jumps of their clocks, as the product's do. Random histories have plain clocks, which are worse. */
  doubtsJumps?: boolean;
  /** Gets a line for whatever happens. */
  trace: ((line: string) => void) | null;
}

/** The whole cluster: its stores, its processes, its callers, and who watches them. */
export class SimWorld {
  readonly seed: number;
  readonly doubtsJumps: boolean;
  readonly draw: Draw;
  readonly time: VirtualTime;
  readonly ports: SimPorts;
  readonly shards = SHARDS;
  readonly agentIds: readonly number[];
  readonly coverage = new Map<string, number>();
  readonly oracle: LogOracle;
  readonly broker: SimBroker;
  readonly groups: RedisGroup[];
  readonly provider = new SimProvider();
  readonly copies: SimCopies;
  readonly calls: SimCall[] = [];
  readonly ops: SimOp[] = [];
  pods: SimPod[] = [];
  workers: SimWorker[] = [];
  projectors: SimProjector[] = [];
  network: Network = CALM_NETWORK;
  fates: AppendFates = SOUND_LOG;
  mortality: Mortality = IMMORTAL;
  violation: Violation | null = null;
  /** The last moments of each group's data that a file or a replica may still have. */
  readonly moments = new Map<RedisGroup, NodeData[]>();
  readonly #trace: ((line: string) => void) | null;
  readonly #keys = new Map<number, number[]>();
  readonly #callById = new Map<number, SimCall>();
  readonly #hashes = new Map<number, string>();
  #stretch = 1;
  #ids = 0;
  #lastCallId = 0;
  #names = 0;

  constructor({ seed, ports, trace, agents, doubtsJumps = false }: WorldOptions) {
    this.seed = seed;
    this.doubtsJumps = doubtsJumps;
    this.agentIds = Array.from({ length: agents }, (_, i) => i + 1);
    this.ports = ports;
    this.#trace = trace;
    this.draw = createDraw(seed);
    const day = Date.UTC(2026, 10, 18) + this.draw(20) * DAY_MS;
    // Every third history begins shortly before midnight, where credit ends and limits begin anew.
    this.time = new VirtualTime(
      day + (this.draw(3) === 0 ? DAY_MS - this.draw(5 * MINUTE_MS) : this.draw(20) * HOUR_MS),
    );
    this.oracle = new LogOracle({
      shards: SHARDS,
      broken: this.broken,
      count: this.count,
      onEvent: (event, trueMs) => this.#onEvent(event, trueMs),
    });
    this.broker = new SimBroker({
      time: this.time,
      draw: this.draw,
      shards: SHARDS,
      fates: () => this.fates,
      count: this.count,
      onStored: (shard, record) => {
        this.#trace?.(`${this.time.nowMs} log ${shard} ${record.offset} ${record.bytes}`);
        this.oracle.onStored(shard, record);
      },
      onAppended: (process) => {
        const host = this.hosts.find((each) => each.process === process);
        if (host !== undefined && this.#dies(this.mortality.recovery)) {
          this.count('killed after append');
          this.kill(host);
        }
      },
    });
    this.copies = new SimCopies({
      agents: ports.agentStates(),
      time: this.time,
      draw: this.draw,
      count: this.count,
    });
    const { handlers, identityOf } = ports;
    // One Redis for all shards, or one for each.
    const parts = this.draw(2) === 0 ? [[0, 1]] : [[0], [1]];
    this.groups = parts.map((shards) => new RedisGroup({ time: this.time, shards, handlers, identityOf }));
    this.workers = Array.from({ length: 2 + this.draw(2) }, () => this.#newWorker());
    this.pods = [1, 2, 3].map(() => this.#newPod());
    this.projectors = [this.#newProjector()];
  }

  /** A second one may live on: the group has given its shards away, and it does not know yet. */
  replaceProjector(oldLives: boolean): void {
    if (!oldLives) for (const old of this.projectors) old.die();
    this.projectors = [
      ...this.projectors.filter(({ process }) => process.alive).slice(-2),
      this.#newProjector(),
    ];
  }

  /** Where nobody is left, the operator's cluster starts another. */
  projectorStopped(): void {
    this.time.after(1_000, () => {
      if (!this.projectors.some(({ process }) => process.alive)) this.replaceProjector(false);
    });
  }

  get hosts(): SimHost[] {
    return [...this.workers, ...this.pods];
  }

  readonly count = (what: string): void => {
    this.coverage.set(what, (this.coverage.get(what) ?? 0) + 1);
    this.#trace?.(`${this.time.nowMs} ${what}`);
  };

  /** The first one ends the history. */
  readonly broken: Broken = (rule, facts = {}) => {
    this.violation ??= { rule, facts, atMs: this.time.nowMs };
  };

  /** Stops at a broken promise. */
  async runFor(ms: number): Promise<void> {
    await this.time.runFor(ms, () => this.violation !== null);
  }

  loggerOf(name: string): Log {
    return {
      info: () => {},
      warn: (event) => this.count(`warned: ${event}`),
      error: (event, fields) => {
        this.count(`error: ${event}`);
        this.#trace?.(`${this.time.nowMs} ${name} ${event}: ${String(fields?.error)}`);
        if (/is stopped|could not be closed/.test(event)) {
          this.broken('PRODUCT_ERROR', {
            event,
            error: String(fields?.error),
            cause: causeOf(fields?.error),
          });
        }
      },
    };
  }

  hashOf(keyId: number, agentId: number): string {
    const known = this.#hashes.get(keyId) ?? hashOf(keyId, agentId, this.shards);
    this.#hashes.set(keyId, known);
    return known;
  }

  /** Some node that is no longer the primary may have answered for this agent. */
  mayBeStale(agentId: number): boolean {
    const group = this.groups.find(({ shards }) => shards.includes(agentId % this.shards));
    return group?.mayBeStale ?? false;
  }

  /** How much later workers look at what may be due: in quiet hours nothing is missed by it. */
  setPace(stretch: number): void {
    this.#stretch = stretch;
    for (const { process } of [...this.workers, ...this.projectors]) process.stretch = stretch;
  }

  nextId(): number {
    return ++this.#ids;
  }

  keysOf(agentId: number): readonly number[] {
    return this.#keys.get(agentId) ?? [];
  }

  startCall(shape: CallShape, agentId = pick(this.draw, this.agentIds)): void {
    const keys = this.keysOf(agentId);
    const pods = this.pods.filter(
      ({ draining, process }) => process.alive && !draining && !process.standsStill,
    );
    if (keys.length === 0 || pods.length === 0) return;
    const pod = pick(this.draw, pods);
    const callId = this.#nextCallId(pod.process.clock.now());
    const keyId = pick(this.draw, keys);
    const keyHash = this.hashOf(keyId, agentId);
    const plan = drawPlan(this.draw, { callId, agentId, keyId, keyHash }, shape);
    this.count('call');
    const call = pod.start(plan);
    this.calls.push(call);
    this.#callById.set(callId, call);
  }

  startOp(kind: OpKind, agentId: number): void {
    const op = drawOp(this, kind, agentId);
    if (op !== null) this.start(op);
  }

  start(op: SimOp): void {
    this.ops.push(op);
    this.count(`op ${op.kind}`);
    this.#perform(op);
    // A feed's consumer that was thought dead goes on beside the new one.
    if (this.draw(10) === 0) this.#perform(op);
  }

  /**
   * Somebody changes a key, hears that nobody knows, and changes it once more; the first change, which rests on what was
   * read before its connection got stuck, arrives last.
   */
  startLateChange(host: SimHost, stall: () => void): void {
    const agentId = pick(this.draw, this.agentIds);
    const keys = this.keysOf(agentId);
    if (keys.length === 0) return;
    const keyId = pick(this.draw, keys);
    const first = changeOfKey(this, agentId, keyId);
    first.impatient = true;
    this.ops.push(first);
    first.performIn(host, stall).catch((error) => this.broken('OP_THREW', { error: String(error) }));
    this.time.after(5 * SECOND_MS, () => this.start(changeOfKey(this, agentId, keyId)));
  }

  onOpDone({ kind, commands: [command] }: SimOp): void {
    if (command?.type === 'put_key') {
      this.#keys.set(command.agentId, [...this.keysOf(command.agentId), command.keyId]);
    }
    if (command?.type === 'revoke_key') {
      this.#keys.set(
        command.agentId,
        this.keysOf(command.agentId).filter((keyId) => keyId !== command.keyId),
      );
    }
    this.count(`op ${kind} done`);
  }

  mayKillAfter(host: SimHost, script: ScriptName): void {
    const { worker, recovery, pod } = this.mortality;
    const rate = host instanceof SimPod ? pod : RECOVERY.has(script) ? recovery : worker;
    if (!this.#dies(rate)) return;
    this.count(`${host instanceof SimPod ? 'pod' : 'worker'} killed after ${script}`);
    this.kill(host);
  }

  /** SIGKILL; somebody starts it again. */
  kill(host: SimHost): void {
    if (!host.process.alive) return;
    host.die();
    this.time.after(200 + this.draw(3_000), () => {
      if (host instanceof SimPod)
        this.pods = this.pods.map((each) => (each === host ? this.#newPod() : each));
      else this.workers = this.workers.map((each) => (each === host ? this.#newWorker() : each));
    });
    for (const op of this.ops)
      if (op.host === host && !op.done) this.time.after(this.draw(2_000), () => this.#perform(op));
  }

  /** SIGTERM, and SIGKILL after its grace. */
  drain(pod: SimPod): void {
    if (pod.draining) return;
    this.count('pod drained');
    void pod.drain().then(() => {
      this.count('pod drained in time');
      this.kill(pod);
    });
    this.time.after(MINUTE_MS, () => this.kill(pod));
  }

  remember(group: RedisGroup): void {
    const { data, alive } = group.primary;
    if (!alive) return;
    const copy = new Map(Array.from(data, ([shard, store]) => [shard, store.copy()]));
    this.moments.set(group, [...(this.moments.get(group) ?? []), copy].slice(-6));
  }

  /** All faults end: what is down comes back, clocks are right. */
  heal(): void {
    this.network = CALM_NETWORK;
    this.fates = SOUND_LOG;
    this.mortality = IMMORTAL;
    this.broker.slowMs = 0;
    this.copies.isUp = true;
    this.copies.failsOneIn = 0;
    this.replaceProjector(true);
    for (let shard = 0; shard < SHARDS; shard++) this.broker.setUp(shard, true);
    for (const group of this.groups) {
      for (const node of group.nodes) {
        if (node === group.primary) node.alive = true;
        else group.cutOff(node);
        node.full = false;
        node.skewMs = 0;
        node.slowMs = 0;
      }
    }
    for (const host of this.hosts) {
      host.process.skewMs = 0;
      host.connection.resubscribe();
    }
  }

  /** What stands before a complete checkpoint may be gone at any time from then on. */
  onCopied(shard: number, offset: bigint): void {
    this.count('shard copied');
    if (this.draw(2) === 0) return;
    this.time.after(this.draw(500), () => {
      this.count('log trimmed');
      this.broker.trim(shard, offset);
    });
  }

  /** All machines stand still, as a laptop that sleeps. */
  standStill(ms: number): void {
    for (const call of this.calls) if (!call.closed) call.stoodStill = true;
    this.time.standStill(ms);
  }

  #perform(op: SimOp): void {
    if (op.done) return;
    const host = pick(this.draw, this.hosts.filter(({ process }) => process.alive).concat(this.hosts));
    if (!host.process.alive) this.time.after(500, () => this.#perform(op));
    else {
      op.performIn(host).catch((error) =>
        this.broken('OP_THREW', {
          op: op.kind,
          error: String(error),
          stack: error instanceof Error ? error.stack : '',
        }),
      );
    }
  }

  #onEvent(event: LedgerEvent, trueMs: number): void {
    if (event.type === 'moved_in') {
      const seller = this.agentIds.some((id) => this.oracle.has(id, `moved_out ${event.tradeId}`));
      if (!seller) this.broken('MINTED', { event });
    }
    if (event.type === 'key_put') this.#checkKeyChange(event);
    if (event.type !== 'settled' || event.end.errorCode !== 'gateway_error') return;
    this.count('orphan settled');
    const call = this.#callById.get(event.callId);
    if (call === undefined) return;
    call.orphaned = true;
    const pod = this.pods.find(({ process }) => process.name === call.podName);
    // Its process gave it up and lives: whatever held credit for it came after the release.
    if (call.refusal !== null && pod?.process.alive === true && !call.stoodStill) {
      this.broken('HELD_FOR_NOBODY', { callId: event.callId, refusal: call.refusal });
    }
    const mayRun = pod?.process.alive === true && !call.stoodStill && call.closing === null;
    if (mayRun && trueMs - call.arrivedAtMs < call.plan.timeLimitMs) {
      this.broken('ORPHAN_EARLY', { callId: event.callId, afterMs: trueMs - call.arrivedAtMs });
    }
  }

  /** A change that was given up must not come after a newer one that was confirmed. */
  #checkKeyChange({ agentId, keyId, label }: LedgerEventOf<'key_put'>): void {
    const isOf = ({ commands: [command] }: SimOp): boolean =>
      command?.type === 'change_key' && command.agentId === agentId && command.keyId === keyId;
    const changes = this.ops.filter(isOf);
    const late = changes.find(
      ({ gaveUpAtMs, commands: [command] }) =>
        gaveUpAtMs !== null && command?.type === 'change_key' && command.label === label,
    );
    const givenUpAtMs = late?.gaveUpAtMs ?? null;
    if (givenUpAtMs === null) return;
    this.count('a change arrived after it was given up');
    const newer = changes.some(
      ({ bornAtMs, done, refusal }) => bornAtMs >= givenUpAtMs && done && refusal === null,
    );
    if (newer) this.broken('NEWER_KEY_CHANGE_UNDONE', { agentId, keyId, label });
  }

  #dies(tenThousandths: number): boolean {
    return tenThousandths > 0 && this.draw(10_000) < tenThousandths;
  }

  #nextCallId(nowMs: number): number {
    const earliest = (nowMs - ID_EPOCH_MS) * ID_STEP + this.draw(ID_STEP);
    this.#lastCallId = earliest > this.#lastCallId ? earliest : this.#lastCallId + 1;
    return earliest > this.#lastCallId - SECOND_MS * ID_STEP ? this.#lastCallId : earliest;
  }

  #newWorker(): SimWorker {
    const worker = new SimWorker(this, `worker-${++this.#names}`);
    worker.process.stretch = this.#stretch;
    return worker;
  }

  #newProjector(): SimProjector {
    return new SimProjector(this, `projector-${++this.#names}`);
  }

  #newPod(): SimPod {
    return new SimPod(this, `pod-${++this.#names}`);
  }
}

/** Steps between which a publisher or a recoverer must be able to die. */
const RECOVERY: ReadonlySet<ScriptName> = new Set([
  'ack',
  'leftover',
  'lease',
  'fence',
  'claim',
  'clear_agent',
  'load',
  'open',
]);

const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? String(error.cause) : '';
