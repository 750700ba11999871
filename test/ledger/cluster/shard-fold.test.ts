import { describe, expect, test } from 'vitest';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { AgentStates } from '#core/ledger/cluster/agent-states.ts';
import { PoisonRecordError } from '#core/ledger/cluster/effective-log.ts';
import { eventRecordText, HEARTBEAT_TEXT, markRecordText } from '#core/ledger/cluster/log-record.ts';
import {
  checkVersions,
  type FoldedShard,
  foldToEnd,
  readCopy,
  ShardGapError,
} from '#core/ledger/cluster/shard-fold.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import { drawLedgerEvents } from '../../support/ledger-events.ts';
import { createMemoryAgentStates } from '../../support/memory-agent-states.ts';
import { createMemoryLog, type MemoryLog } from '../../support/memory-log.ts';

const SHARD = 0;
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);

async function logOf(events: readonly LedgerEvent[]): Promise<MemoryLog> {
  const log = createMemoryLog(1);
  await append(log, events, 0);
  return log;
}

/** With a mark before each hundredth event, and after each tenth something that does not count. */
async function append(log: MemoryLog, events: readonly LedgerEvent[], from: number): Promise<void> {
  const texts = events.flatMap((event, i) => {
    const seq = from + i + 1;
    const epoch = Math.ceil(seq / 100);
    const text = eventRecordText(epoch, seq, JSON.stringify(event));
    return [
      ...(seq % 100 === 1 ? [markRecordText(epoch, `nonce ${epoch}`)] : []),
      text,
      ...(seq % 10 === 0 ? [text, HEARTBEAT_TEXT] : []),
    ];
  });
  await log.append(SHARD, texts);
}

async function fold(log: MemoryLog, states: AgentStates = createMemoryAgentStates()): Promise<FoldedShard> {
  const folded = await readCopy(states, SHARD);
  await foldToEnd(log, folded);
  checkVersions(folded);
  return folded;
}

const agentsOf = ({ state }: FoldedShard): AgentState[] => [...state.agents.values()];

/** As a projector leaves them: the agents, then the checkpoint. */
async function copy(states: AgentStates, folded: FoldedShard): Promise<void> {
  await states.writeAgents(SHARD, folded.position, agentsOf(folded));
  await states.writeCheckpoint(SHARD, folded);
}

/** What has been written of a history after so many of its events, and the history's whole log. */
async function copiedAfter(events: readonly LedgerEvent[], count: number) {
  const states = createMemoryAgentStates();
  const log = await logOf(events.slice(0, count));
  const folded = await fold(log);
  await copy(states, folded);
  await append(log, events.slice(count), count);
  return { states, log, folded };
}

describe('rule 10, snapshots: a shard', () => {
  test.each(SEEDS)(
    'from its copy and the log behind it is the shard from the whole log (seed %i)',
    async (seed) => {
      const events = drawLedgerEvents(seed, 300);
      const { states, log } = await copiedAfter(events, Math.floor(events.length / 2));
      const whole = await fold(log);
      const continued = await fold(log, states);
      expect(continued).toEqual(whole);
      expect(whole.position.seq).toBe(events.length);
    },
  );

  test.each(SEEDS)(
    'whose agents were copied later than its checkpoint counts no event twice (seed %i)',
    async (seed) => {
      const events = drawLedgerEvents(seed, 300);
      const { states, log } = await copiedAfter(events, Math.floor(events.length / 3));
      const whole = await fold(log);
      // A projector that died before it could write the checkpoint.
      const [later] = agentsOf(whole);
      if (later !== undefined) await states.writeAgents(SHARD, whole.position, [later]);
      expect((await fold(log, states)).state.agents).toEqual(whole.state.agents);
    },
  );

  test('is refused when an agent without later events is missing from its copy', async () => {
    const events = drawLedgerEvents(1, 300);
    const { states, log } = await copiedAfter(events, events.length);
    states.loseAgent(SHARD, 2);
    await expect(fold(log, states)).rejects.toThrow(
      /^shard 0: the agents' versions add up to \d+, and the log stands at event \d+$/,
    );
  });

  test('is refused when the copy of an agent with later events is missing', async () => {
    const events = drawLedgerEvents(1, 300);
    const { states, log } = await copiedAfter(events, Math.floor(events.length / 2));
    states.loseAgent(SHARD, 1);
    await expect(fold(log, states)).rejects.toThrow(
      /^shard 0: the copy of an agent is missing or too old \(agent 1: expected version 1, found \d+/,
    );
    await expect(fold(log, states)).rejects.toBeInstanceOf(ShardGapError);
  });

  test('that was never copied is refused once its log no longer begins with its first record', async () => {
    const log = await logOf(drawLedgerEvents(1, 300));
    log.cut(SHARD, 5n);
    await expect(fold(log)).rejects.toThrow('shard 0: the log no longer has record 0, its next one is 5');
  });

  test('is refused when its log no longer reaches back to its checkpoint', async () => {
    const events = drawLedgerEvents(1, 300);
    const { states, log, folded } = await copiedAfter(events, 50);
    log.cut(SHARD, folded.offset);
    expect((await fold(log, states)).position.seq).toBe(events.length);
    log.cut(SHARD, folded.offset + 1n);
    await expect(fold(log, states)).rejects.toBeInstanceOf(ShardGapError);
  });

  test('that was idle while its log was cut is whole, because its checkpoint moved on with the heartbeats', async () => {
    const events = drawLedgerEvents(1, 100);
    const { states, log } = await copiedAfter(events, events.length);
    await log.append(SHARD, [HEARTBEAT_TEXT, HEARTBEAT_TEXT]);
    const idle = await fold(log, states);
    await copy(states, idle);
    log.cut(SHARD, idle.offset);
    expect((await fold(log, states)).position).toEqual(idle.position);
  });

  test('is stopped by a record that cannot follow, and by an event that cannot have happened', async () => {
    const events = drawLedgerEvents(1, 50);
    const nonsense = await logOf(events);
    await nonsense.append(SHARD, ['nonsense']);
    await expect(fold(nonsense)).rejects.toBeInstanceOf(PoisonRecordError);
    const impossible = await logOf(events);
    const version = events.filter(({ agentId }) => agentId === 1).length + 1;
    const event = { v: 1, type: 'key_revoked', agentId: 1, version, atMs: 1, keyId: 999 };
    await impossible.append(SHARD, [
      eventRecordText(Math.ceil(events.length / 100), events.length + 1, JSON.stringify(event)),
    ]);
    await expect(fold(impossible)).rejects.toBeInstanceOf(PoisonRecordError);
  });
});
