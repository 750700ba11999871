import { type Clock, SECOND_MS, wait } from '../clock.ts';
import type { AgentStates, Checkpoint } from '../ledger/cluster/agent-states.ts';
import { LOG_START } from '../ledger/cluster/effective-log.ts';
import type { LedgerLog } from '../ledger/cluster/ledger-log.ts';
import {
  checkVersions,
  type FoldedShard,
  foldRecord,
  foldToEnd,
  readCopy,
  ShardGapError,
  sumOfVersions,
} from '../ledger/cluster/shard-fold.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { serializeAgent } from '../ledger/machine/agent-snapshot.ts';
import { foldEvent } from '../ledger/machine/apply.ts';
import { checkIdentity } from '../ledger/machine/check-identity.ts';
import { emptyLedger } from '../ledger/machine/empty-ledger.ts';
import { postingsOf } from '../ledger/machine/postings.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import type { NanoUsd } from '../money.ts';
import { compareAgents } from './compare-agents.ts';

export interface AuditShardOptions {
  shard: number;
  log: LedgerLog;
  states: AgentStates;
  /** As Redis has them now. */
  readRedis: (shard: number) => Promise<AgentState[] | 'unavailable'>;
  /** By the hash of a key, as a call does it. */
  findKey: Ledger['findKey'];
  /** What an agent was charged by its entries in the history, and the version up to which it has them; `null`: none. */
  readCharged: (agent: AgentState) => Promise<ChargedByHistory | null>;
  patience: Patience;
  clock: Clock;
}

/** For what is only late on its way to the log: of all shards of an audit together, or a dead publisher would cost it at each. */
export interface Patience {
  leftMs: number;
}

export interface ChargedByHistory {
  chargedNanoUsd: NanoUsd;
  version: number;
}

export interface ShardAudit {
  agents: number;
  events: number;
  /** False: the log no longer reaches back to the shard's first event, so that its copies had to be believed. */
  fromFirstEvent: boolean;
  problems: ShardProblem[];
}

/** `agentId` is null where it is the shard that is off. */
export interface ShardProblem {
  agentId: number | null;
  problem: string;
}

/**
 * Folds a shard's log and holds what Redis and the history have against it, each agent at the version at which it was read:
 * so calls may go on meanwhile. What is only late is waited for.
 */
export async function auditShard(options: AuditShardOptions): Promise<ShardAudit> {
  const { shard, states, readRedis, readCharged } = options;
  const problems: ShardProblem[] = [];
  // Before the rows that have to be written by then: a checkpoint of later stands for rows that were read too early.
  const checkpoint = await states.readCheckpoint(shard);
  const redis = await readRedis(shard);
  if (redis === 'unavailable')
    problems.push({ agentId: null, problem: 'Redis does not answer for this shard.' });
  const copies: AgentState[] = [];
  await states.readAgents(shard, (agent) => copies.push(agent));
  const expected = new Expected(redis === 'unavailable' ? [] : redis, copies);
  for (const agent of expected.agents()) {
    const charged = await readCharged(agent);
    if (charged !== null) expected.charged.set(agent.agentId, charged);
  }

  const start = { shard, state: emptyLedger(), position: { ...LOG_START }, offset: 0n, lastAtMs: 0 };
  let fromFirstEvent = true;
  const movedBy = new Map<number, number>();
  const onMoved = (agentId: number, version: number, offset: bigint) => {
    if (checkpoint !== null && offset < checkpoint.offset) movedBy.set(agentId, version);
  };
  const { folded, events, found } = await foldAll(options, start, expected, onMoved).catch(
    async (error: unknown) => {
      // A log that was cut, or a cluster that was restored: the copies are where it begins.
      if (copies.length === 0 || !(error instanceof ShardGapError)) throw error;
      fromFirstEvent = false;
      movedBy.clear();
      return foldAll(options, await readCopy(states, shard), expected, onMoved);
    },
  );
  problems.push(...found, ...expected.missing(folded));
  if (redis !== 'unavailable') {
    problems.push(...(await behindTheLog(options, folded)), ...(await unknownKeys(options, folded)));
  }
  problems.push(...expected.behindCheckpoint(checkpoint, movedBy));
  // Without a checkpoint, or from the copies, it would be the same fold again.
  if (checkpoint !== null && fromFirstEvent) problems.push(...(await refusedRecovery(options)));
  const versions = sumOfVersions(folded.state);
  if (versions !== folded.position.seq) {
    const problem = `The agents' versions add up to ${versions}, the log stands at event ${folded.position.seq}.`;
    problems.push({ agentId: null, problem });
  }
  for (const agent of folded.state.agents.values()) {
    const problem = checkIdentity(agent);
    if (problem !== null) problems.push({ agentId: agent.agentId, problem: `By the log: ${problem}.` });
  }
  return { agents: folded.state.agents.size, events, fromFirstEvent, problems };
}

/** Read again after the fold: where a shard decides, Redis is never behind its log. */
async function behindTheLog(
  { shard, readRedis }: AuditShardOptions,
  { state }: FoldedShard,
): Promise<ShardProblem[]> {
  const now = await readRedis(shard);
  if (now === 'unavailable') return [{ agentId: null, problem: 'Redis does not answer for this shard.' }];
  const versions = new Map(now.map(({ agentId, version }) => [agentId, version]));
  return [...state.agents.values()].flatMap(({ agentId, version }) => {
    const known = versions.get(agentId);
    if (known === undefined) return [{ agentId, problem: 'The log has it, Redis does not.' }];
    if (known >= version) return [];
    return [{ agentId, problem: `The log has it at version ${version}, Redis only up to ${known}.` }];
  });
}

/** Keys are found by a list of the whole shard, which stands in Redis alone. */
async function unknownKeys({ findKey }: AuditShardOptions, { state }: FoldedShard): Promise<ShardProblem[]> {
  const problems: ShardProblem[] = [];
  for (const { agentId, keys } of state.agents.values()) {
    const found = await Promise.all(
      Array.from(keys.values(), async ({ keyId, hash }) => ({ keyId, owner: await findKey([hash]) })),
    );
    for (const { keyId, owner } of found) {
      if (owner === 'unavailable') {
        return [...problems, { agentId: null, problem: 'Redis does not answer for this shard.' }];
      }
      if (owner.found && owner.agentId === agentId && owner.keyId === keyId) continue;
      problems.push({
        agentId,
        problem: `The log has its key ${keyId}, and by its hash Redis does not find it.`,
      });
    }
  }
  return problems;
}

/** A lost copy is seen by nobody until Redis is lost, and then the shard stays shut. */
async function refusedRecovery({ shard, log, states }: AuditShardOptions): Promise<ShardProblem[]> {
  try {
    const folded = await readCopy(states, shard);
    await foldToEnd(log, folded);
    checkVersions(folded);
    return [];
  } catch (error) {
    if (!(error instanceof ShardGapError)) throw error;
    return [{ agentId: null, problem: `A recovery would be refused: ${error.message}.` }];
  }
}

const WAIT_MS = SECOND_MS / 10;

/** To the log's end, and on while an event of the last moment is still on its way there. */
async function foldAll(
  { log, patience, clock }: AuditShardOptions,
  folded: FoldedShard,
  expected: Expected,
  onMoved: (agentId: number, version: number, offset: bigint) => void,
) {
  const found: ShardProblem[] = [];
  let events = 0;
  const foldOn = () =>
    log.readToEnd(new Map([[folded.shard, folded.offset]]), (_, record) => {
      foldRecord(folded, record, (event) => {
        const postings = postingsOf(folded.state, event);
        if (foldEvent(folded.state, event) === 'skipped') return;
        events++;
        if (postings.length > 0) onMoved(event.agentId, event.version, record.offset);
        const agent = folded.state.agents.get(event.agentId);
        if (agent !== undefined) expected.compare(agent, found);
      });
    });
  for (const agent of folded.state.agents.values()) expected.compare(agent, found);
  await foldOn();
  while (patience.leftMs > 0 && expected.missing(folded).length > 0) {
    await wait(clock, WAIT_MS);
    patience.leftMs -= WAIT_MS;
    await foldOn();
  }
  return { folded, events, found };
}

/** What the stores said of each agent, until the fold comes by at the same version. */
class Expected {
  readonly charged = new Map<number, ChargedByHistory>();
  readonly #redis: ReadonlyMap<number, AgentState>;
  readonly #copies: ReadonlyMap<number, AgentState>;

  constructor(redis: readonly AgentState[], copies: readonly AgentState[]) {
    this.#redis = new Map(redis.map((agent) => [agent.agentId, agent]));
    this.#copies = new Map(copies.map((agent) => [agent.agentId, agent]));
  }

  agents(): AgentState[] {
    return [...new Map([...this.#copies, ...this.#redis]).values()];
  }

  compare(agent: AgentState, problems: ShardProblem[]): void {
    const { agentId, version, chargedNanoUsd } = agent;
    const add = (problem: string) => problems.push({ agentId, problem });
    const inRedis = this.#redis.get(agentId);
    if (inRedis?.version === version) {
      for (const difference of compareAgents(agent, inRedis)) add(`The log and Redis: ${difference}.`);
    }
    const copy = this.#copies.get(agentId);
    if (copy?.version === version && serializeAgent(copy) !== serializeAgent(agent)) {
      const differences = compareAgents(agent, copy);
      if (differences.length === 0) add('The log and the copy in Cassandra differ in what was done lately.');
      for (const difference of differences) add(`The log and the copy in Cassandra: ${difference}.`);
    }
    const byHistory = this.charged.get(agentId);
    if (byHistory?.version === version && byHistory.chargedNanoUsd !== chargedNanoUsd) {
      add(`The log and the history: charged is ${chargedNanoUsd} and ${byHistory.chargedNanoUsd}.`);
    }
  }

  /** Rows are written before the checkpoint that stands for them. */
  behindCheckpoint(checkpoint: Checkpoint | null, movedBy: ReadonlyMap<number, number>): ShardProblem[] {
    if (checkpoint === null) return [];
    return [...movedBy].flatMap(([agentId, version]) => {
      const known = this.charged.get(agentId)?.version ?? 0;
      if (known >= version) return [];
      return [
        { agentId, problem: `The history has its movements up to version ${known}, not up to ${version}.` },
      ];
    });
  }

  /** What the log does not have. */
  missing({ state }: FoldedShard): ShardProblem[] {
    const problems: ShardProblem[] = [];
    for (const { agentId, version } of this.agents()) {
      const logged = state.agents.get(agentId)?.version ?? 0;
      if (logged < version) {
        problems.push({
          agentId,
          problem: `A store has it at version ${version}, the log only up to ${logged}.`,
        });
      }
    }
    return problems;
  }
}
