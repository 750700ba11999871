import { MINUTE_MS } from '#core/clock.ts';
import type { AgentStates, Checkpoint } from '#core/ledger/cluster/agent-states.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { decodeLogRecord } from '#core/ledger/cluster/log-record.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import type { ShardLedger } from '#core/ledger/cluster/redis-ledger.ts';
import type { RedisScripts, ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import type { Command } from '#core/ledger/command.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import type { FaultName } from './faults.ts';
import { realPorts, type SimPorts } from './ports.ts';
import {
  type ScriptHandler,
  type ScriptHandlers,
  type ScriptRun,
  scriptHandlers,
} from './script-handlers.ts';

export interface Ablation {
  ports: SimPorts;
  /** The faults that the rule is there for; else all of them. */
  faults?: readonly FaultName[];
  /** Missed only once in hundreds of histories: `make test` has no time for it, `make sim` has. */
  rare?: true;
}

const withHandlers = (changed: Partial<ScriptHandlers>): SimPorts => ({
  ...realPorts,
  handlers: { ...scriptHandlers, ...changed },
});

const answeringAtOnce = (which: (command: Command) => boolean): SimPorts => ({
  ...realPorts,
  answersAtOnce: which,
});

const splitAndBack: readonly FaultName[] = [
  'split brain, the replica up to date',
  'split brain, the replica behind',
  'fail-back without a restart',
];
const slowCopies: readonly FaultName[] = [
  'a projector stands still, and another takes over',
  'a projector lives on',
  'FLUSHALL',
];
const arrivingLate: readonly FaultName[] = ['what a process has sent arrives late'];
const wrongClocks: readonly FaultName[] = ["redis' clock steps", 'a worker is killed'];

/**
 * The rules of the cluster's protocol, each taken away at a port; nothing in the product knows of it.
 *
 * No port takes these away, and `test/ledger/cluster` holds them: an event that a copy contains is skipped; a gap in an
 * agent's versions, or in their sum, is refused (`shard-fold.test.ts`); of two checkpoints of one place the further one
 * stays (`agent-states-contract.ts`); a mark is known by its nonce (`effective-log.test.ts`); the grace after an opening
 * (`redis-rules.services.test.ts`).
 */
export const ablations: Readonly<Record<string, Ablation>> = {
  'the fence': { ports: { ...realPorts, identityOf: () => 'any node' } },
  "the fence's master_replid": {
    ports: { ...realPorts, identityOf: ({ runId }) => runId },
    faults: splitAndBack,
  },
  'a newer mark clears the fence': {
    ports: withHandlers({ fence: () => ['OK'] }),
    faults: splitAndBack,
  },
  'the fold at recovery': { ports: withHandlers(loadingNothing()) },
  'reading back': {
    ports: {
      ...realPorts,
      publisher: (ports) => ({ ...ports, log: acknowledgedByAppend(ports.scripts, ports.log) }),
    },
    faults: [...splitAndBack, 'a process goes back to an old primary', 'the log is slow'],
  },
  'the gate': { ports: answeringAtOnce(({ type }) => type === 'reserve') },
  'a command is answered once the log has it': {
    ports: answeringAtOnce(({ type }) =>
      ['grant', 'put_key', 'change_key', 'revoke_key', 'start_upload', 'set_agent'].includes(type),
    ),
  },
  'a trade goes on once the log has its first half': {
    ports: answeringAtOnce(({ type }) => type === 'move_out'),
  },
  'a call is closed once the log has its end': {
    ports: answeringAtOnce(({ type }) => type === 'settle' || type === 'finish'),
  },
  'no hold counts only where the log agrees': {
    rare: true,
    ports: withHandlers({
      settle: withoutPlace('settle'),
      finish: withoutPlace('finish'),
    }),
    faults: [...splitAndBack, 'a process goes back to an old primary'],
  },
  'a refusal counts once the log has what it rests on': {
    ports: withHandlers({
      reserve: (run) => {
        const [word, place, ...values] = scriptHandlers.reserve(run);
        return word === 'BALANCE'
          ? [word, '', ...values]
          : [word, ...(place === undefined ? [] : [place]), ...values];
      },
    }),
  },
  'a late start of a call that was given up holds nothing': {
    ports: withHandlers({ settle: forgettingReleases }),
    faults: arrivingLate,
  },
  'a change of a key rests on what was read of it': {
    ports: withHandlers({
      change_key: (run) => scriptHandlers.change_key({ ...run, args: run.args.with(6, '') }),
    }),
    faults: arrivingLate,
  },
  'the claim': {
    rare: true,
    ports: withHandlers({
      clear_agent: withoutClaim('clear_agent'),
      load: withoutClaim('load'),
      open: withoutClaim('open'),
    }),
  },
  'a pending call is no orphan': {
    ports: {
      ...withHandlers({
        settle: orphansWhere(({ pending }) => pending !== null),
      }),
      settlement: (ledger) => ({
        ...ledger,
        execute: (command) => ledger.execute(command),
        listHolds: async () => {
          const holds = await ledger.listHolds();
          return holds === 'unavailable' ? holds : holds.map((hold) => ({ ...hold, pending: null }));
        },
      }),
    },
  },
  'a lapsed lease settles nothing': {
    ports: {
      ...withHandlers({ settle: orphansWhere((_, isLeased) => !isLeased) }),
      settlement: holdsLookOld,
    },
  },
  "an orphan is one by the log's time, too": {
    rare: true,
    ports: { ...realPorts, settlement: holdsLookOld },
    faults: wrongClocks,
  },
  "credit ends by the log's time, too": {
    rare: true,
    ports: { ...realPorts, settlement: endsAtOnce },
    faults: wrongClocks,
  },
  "a start compares its caller's time": {
    ports: withHandlers({
      reserve: (run) => {
        const nowMs = Math.max(run.clockMs, run.store.meta.lastMs);
        return scriptHandlers.reserve({ ...run, args: run.args.with(7, String(nowMs)) });
      },
    }),
    faults: wrongClocks,
  },
  'the refusal of a trade is an event': {
    ports: withHandlers({
      move_out: (run) => {
        const before = run.store.copy();
        const reply = scriptHandlers.move_out(run);
        if (reply[0] !== 'REFUSED') return reply;
        run.store.restore(before);
        return ['REFUSED'];
      },
    }),
  },
  'an older copy never replaces a newer one': {
    ports: { ...realPorts, agentStates: lastWriteWins },
    faults: slowCopies,
  },
};

function withoutPlace(name: 'settle' | 'finish'): ScriptHandler {
  return (run) => {
    const reply = scriptHandlers[name](run);
    return reply[0] === 'NO_HOLD' ? ['NO_HOLD'] : reply;
  };
}

/** A release that finds no hold leaves nothing behind, as an orphan's settlement never does. */
function forgettingReleases(run: ScriptRun): ScriptReply {
  const holds = run.store.state.agents.get(Number(run.args[0]))?.holds;
  if (holds?.has(Number(run.args[1]))) return scriptHandlers.settle(run);
  return scriptHandlers.settle({ ...run, args: run.args.with(5, 'orphan') });
}

/** Ends at no charge what its own rule would not. */
function orphansWhere(
  isOrphan: (hold: { pending: object | null }, isLeased: boolean) => boolean,
): ScriptHandler {
  return (run) => {
    const agent = run.store.state.agents.get(Number(run.args[0]));
    const callId = Number(run.args[1]);
    const hold = agent?.holds.get(callId);
    const isLeased = (agent?.leases.get(callId) ?? 0) > run.clockMs;
    const taken = run.args[5] === 'orphan' && hold !== undefined && isOrphan(hold, isLeased);
    return scriptHandlers.settle(taken ? { ...run, args: run.args.with(5, 'end') } : run);
  };
}

/** Every hold looks as if its call should be over. */
function holdsLookOld(ledger: ShardLedger): ShardLedger {
  return {
    ...endsAtOnce(ledger),
    execute: (command) => ledger.execute(command),
    listHolds: async () => {
      const holds = await ledger.listHolds();
      if (holds === 'unavailable') return holds;
      return holds.map((hold) => ({ ...hold, startedAtMs: 0, timeLimitMs: MINUTE_MS }));
    },
  };
}

/** Whatever Redis believes to have ended has ended. */
function endsAtOnce(ledger: ShardLedger): ShardLedger {
  return {
    execute: <C extends Command>(command: C) =>
      ledger.execute<C>(
        command.type === 'expire' ? { ...command, endedByMs: Number.MAX_SAFE_INTEGER } : command,
      ),
    readAgent: (agentId) => ledger.readAgent(agentId),
    listEnded: () => ledger.listEnded(Number.MAX_SAFE_INTEGER),
    listHolds: () => ledger.listHolds(),
  };
}

function withoutClaim(name: 'clear_agent' | 'load' | 'open'): ScriptHandler {
  return (run) => {
    const { meta } = run.store;
    const { claim, claimedBy, fence } = meta;
    Object.assign(meta, { claim: run.args[0], claimedBy: run.identity, fence: null });
    const reply = scriptHandlers[name](run);
    if (name !== 'open') Object.assign(meta, { claim, claimedBy, fence });
    return reply;
  };
}

/** What the node has stays, whatever the log says. */
function loadingNothing(): Partial<ScriptHandlers> {
  return {
    claim: (run) => {
      const { meta, outbox, raw } = run.store;
      const kept = new Map(raw);
      const reply = scriptHandlers.claim(run);
      if (meta.seq === 0) return reply;
      run.store.outbox = outbox;
      for (const [name, fields] of kept) raw.set(name, fields);
      return [reply[0], []];
    },
    load: (run) => (run.store.meta.seq === 0 ? scriptHandlers.load(run) : ['OK']),
    open: (run) => {
      const { seq } = run.store.meta;
      return scriptHandlers.open(seq === 0 ? run : { ...run, args: run.args.with(2, String(seq)) });
    },
  };
}

/** What a producer is told to be stored counts as being in the log. */
function acknowledgedByAppend(scripts: RedisScripts, log: LedgerLog): LedgerLog {
  return {
    ...log,
    async append(shard, texts) {
      await log.append(shard, texts);
      const last = decodeLogRecord(Buffer.from(texts.at(-1) ?? ''));
      if (last.type !== 'event') return;
      const { meta, outbox } = new ShardKeys(shard);
      const [, , , offset] = await scripts.run('position', [meta, outbox], []);
      await scripts.run('ack', [meta, outbox], [last.epoch, last.seq, String(offset), last.seq, 1]);
    },
  };
}

function lastWriteWins(): AgentStates {
  const shards = new Map<number, { checkpoint: Checkpoint | null; agents: Map<number, AgentStates> }>();
  const of = (shard: number) => {
    const known = shards.get(shard) ?? { checkpoint: null, agents: new Map() };
    shards.set(shard, known);
    return known;
  };
  return {
    readCheckpoint: async (shard) => structuredClone(of(shard).checkpoint),
    async readAgents(shard, onAgent) {
      for (const copies of of(shard).agents.values()) await copies.readAgents(shard, onAgent);
    },
    async writeAgents(shard, at, agents) {
      for (const agent of agents) {
        // A store of its own for each write: there is nothing older in it.
        const copies = createMemoryAgentStates();
        await copies.writeAgents(shard, at, [agent]);
        of(shard).agents.set(agent.agentId, copies);
      }
    },
    async writeCheckpoint(shard, checkpoint) {
      of(shard).checkpoint = structuredClone(checkpoint);
    },
  };
}
