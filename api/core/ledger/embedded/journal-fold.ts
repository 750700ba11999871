import type { CallRecord } from '../../calls/call-record.ts';
import { projectCall } from '../../calls/project-call.ts';
import { decodeLedgerEvent } from '../../events/ledger-event.ts';
import { DONE_KEPT_MS } from '../../limits.ts';
import { nextTurn } from '../../wait.ts';
import { deserializeAgent, serializeAgent } from '../machine/agent-snapshot.ts';
import { foldEvent } from '../machine/apply.ts';
import { checkIdentity } from '../machine/check-identity.ts';
import { addAgent, emptyLedger } from '../machine/empty-ledger.ts';
import { RecentlySettled } from '../machine/recently-settled.ts';
import type { AgentState, LedgerState } from '../machine/state.ts';
import type { AgentRow, EndedCall, EndedRow, Journal, JournalHead, JournalRow } from './journal.ts';
import { JournalDamagedError, JournalError } from './journal-errors.ts';
import { unpackEvents } from './packed-events.ts';

export interface Folded {
  state: LedgerState;
  head: JournalHead;
  /** Calls that ended in events behind the history's mark: their rows are still to be written. */
  calls: CallRecord[];
  /** Agents that changed since the checkpoint: the next snapshot has to write them. */
  changedAgents: Set<number>;
}

/**
 * The ledger as the journal has it: each agent's snapshot, then the events behind the checkpoint, of which an
 * agent's snapshot may already contain some. Reads in chunks, so that a thread that folds while it serves calls
 * never stalls for long.
 *
 * Throws `JournalDamagedError` on anything that cannot have been written so.
 */
export async function foldJournal(journal: Journal, file: string): Promise<Folded> {
  const head = await journal.head();
  const folded: Folded = { state: emptyLedger(), head, calls: [], changedAgents: new Set() };
  await readAgents(journal, file, folded.state);
  await readEnded(journal, folded);
  await readTail(journal, file, folded);
  await checkAgents(file, folded);
  return folded;
}

const NO_DONE = new RecentlySettled();

/** Ended calls stand in the journal's own rows. */
export const toAgentRow = (agent: AgentState): AgentRow => ({
  agentId: agent.agentId,
  text: serializeAgent({ ...agent, done: NO_DONE }),
});

async function readAgents(journal: Journal, file: string, state: LedgerState): Promise<void> {
  let afterAgentId = -1;
  for (;;) {
    const rows = await journal.readAgents(afterAgentId);
    if (rows.length === 0) return;
    for (const row of rows) {
      addAgent(
        state,
        naming(file, null, `agent ${row.agentId}`, () => deserializeAgent(row.text)),
      );
      afterAgentId = row.agentId;
    }
  }
}

async function readEnded(journal: Journal, { state, head }: Folded): Promise<void> {
  let afterSeq = 0;
  for (;;) {
    const rows = await journal.readEnded(afterSeq, head.lastAtMs - DONE_KEPT_MS);
    if (rows.length === 0) return;
    for (const row of rows) {
      // Each row comes once and the snapshots have none, so nothing is looked for: an hour's calls are many.
      for (const call of endedCalls(row)) addEnded(state, call);
      afterSeq = row.lastSeq;
    }
  }
}

const endedCalls = ({ ended }: EndedRow): EndedCall[] => (ended === '' ? [] : JSON.parse(ended));

const addEnded = (state: LedgerState, [agentId, callId, nonce, charged, settledAtMs]: EndedCall): void =>
  state.agents.get(agentId)?.done.set(callId, { nonce, chargedNanoUsd: BigInt(charged), settledAtMs });

async function readTail(journal: Journal, file: string, folded: Folded): Promise<void> {
  let afterSeq = folded.head.checkpointSeq;
  for (;;) {
    const rows = await journal.readTail(afterSeq);
    if (rows.length === 0) break;
    for (const row of rows) {
      foldRow(file, row, folded);
      afterSeq = row.lastSeq;
    }
  }
  if (afterSeq !== folded.head.lastSeq) {
    throw new JournalDamagedError(
      file,
      afterSeq + 1,
      `the journal ends early: it goes to ${folded.head.lastSeq}`,
    );
  }
}

function foldRow(file: string, row: JournalRow, folded: Folded): void {
  const { state, head, calls, changedAgents } = folded;
  const records = naming(file, row.firstSeq, 'the row', () => readRecords(row));
  for (const [index, record] of records.entries()) {
    const seq = row.firstSeq + index;
    naming(file, seq, 'the event', () => {
      const event = decodeLedgerEvent(record);
      const call = seq > head.projectedSeq ? projectCall(state, event) : null;
      if (foldEvent(state, event) === 'skipped') return;
      changedAgents.add(event.agentId);
      if (call !== null) calls.push(call);
    });
  }
  // Of events that a snapshot contained, and the fold has skipped.
  for (const call of endedCalls(row)) {
    const [agentId, callId] = call;
    if (state.agents.get(agentId)?.done.has(callId) === false) addEnded(state, call);
  }
}

function readRecords(row: JournalRow): unknown[] {
  const records = unpackEvents(row.events);
  if (records.length !== row.lastSeq - row.firstSeq + 1) {
    throw new Error('it does not hold as many events as it says');
  }
  return records;
}

/** Every event raises the version of one agent by one, so the versions add up to the last seq. */
async function checkAgents(file: string, { state, head }: Folded): Promise<void> {
  let versions = 0;
  let checked = 0;
  for (const agent of state.agents.values()) {
    versions += agent.version;
    const problem = checkIdentity(agent);
    if (problem !== null) throw new JournalDamagedError(file, null, `agent ${agent.agentId}: ${problem}`);
    if (++checked % AGENTS_PER_TURN === 0) await nextTurn();
  }
  if (versions !== head.lastSeq) {
    throw new JournalDamagedError(
      file,
      null,
      `the agents' versions add up to ${versions}, and the journal ends at ${head.lastSeq}`,
    );
  }
}

const AGENTS_PER_TURN = 200;

/** Whatever a reader of foreign bytes throws means that they are damaged; the error says where. */
function naming<T>(file: string, seq: number | null, what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof JournalError) throw cause;
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new JournalDamagedError(file, seq, `${what} cannot be read (${problem})`, { cause });
  }
}
