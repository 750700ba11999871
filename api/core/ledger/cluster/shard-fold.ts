import type { LedgerEvent } from '../../events/ledger-event.ts';
import { foldEvent } from '../machine/apply.ts';
import { addAgent, emptyLedger } from '../machine/empty-ledger.ts';
import { LedgerGapError } from '../machine/ledger-errors.ts';
import type { LedgerState } from '../machine/state.ts';
import type { AgentStates } from './agent-states.ts';
import { followStored, LOG_START, type LogPosition, PoisonRecordError } from './effective-log.ts';
import type { LedgerLog, StoredRecord } from './ledger-log.ts';

/** A shard as its log has made it. */
export interface FoldedShard {
  shard: number;
  state: LedgerState;
  position: LogPosition;
  /** Behind the last record that was folded. */
  offset: bigint;
  /** The latest time of a start, the one time that a shard remembers: two clocks had to agree on it. */
  lastAtMs: number;
}

/** What the log or the copies of a shard's agents should have is missing: nobody may build on the rest. */
export class ShardGapError extends Error {
  override readonly name = 'ShardGapError';

  constructor(shard: number, problem: string, options?: ErrorOptions) {
    super(`shard ${shard}: ${problem}`, options);
  }
}

/** The shard as it was last copied, to be folded on from there; as it was before its first event where it never was. */
export async function readCopy(states: AgentStates, shard: number): Promise<FoldedShard> {
  const state = emptyLedger();
  const checkpoint = await states.readCheckpoint(shard);
  if (checkpoint === null) return { shard, state, position: { ...LOG_START }, offset: 0n, lastAtMs: 0 };
  await states.readAgents(shard, (agent) => addAgent(state, agent));
  const { position, offset, lastAtMs } = checkpoint;
  return { shard, state, position: { ...position }, offset, lastAtMs };
}

/** From where the fold stands to the log's present end, as `foldRecord` does. */
export async function foldToEnd(
  log: LedgerLog,
  folded: FoldedShard,
  onEvent?: (event: LedgerEvent) => void,
): Promise<void> {
  let failure: unknown = null;
  await log.readToEnd(new Map([[folded.shard, folded.offset]]), (_, record) => {
    if (failure !== null) return;
    try {
      foldRecord(folded, record, onEvent);
    } catch (error) {
      failure = error;
    }
  });
  if (failure !== null) throw failure;
}

/**
 * The next record of the shard. `onEvent` gets what counts; an event that a copy of its agent contains already changes
 * nothing. Throws `ShardGapError` or `PoisonRecordError`: then nothing may follow.
 */
export function foldRecord(
  folded: FoldedShard,
  record: StoredRecord,
  onEvent: (event: LedgerEvent) => void = (event) => void foldEvent(folded.state, event),
): void {
  const { shard, offset } = folded;
  if (record.offset !== offset) {
    throw new ShardGapError(
      shard,
      `the log no longer has record ${offset}, its next one is ${record.offset}`,
    );
  }
  const event = followStored(folded.position, record);
  folded.offset = record.offset + 1n;
  if (event === null) return;
  try {
    onEvent(event);
  } catch (cause) {
    if (!(cause instanceof LedgerGapError)) throw new PoisonRecordError(record.offset, cause);
    throw new ShardGapError(shard, `the copy of an agent is missing or too old (${cause.message})`, {
      cause,
    });
  }
  if (event.type === 'reserved') folded.lastAtMs = Math.max(folded.lastAtMs, event.atMs);
}

/** Every event raises the version of one agent by one, so the versions add up to the last seq, or a copy was lost. */
export function checkVersions({ shard, state, position }: FoldedShard): void {
  const versions = sumOfVersions(state);
  if (versions === position.seq) return;
  throw new ShardGapError(
    shard,
    `the agents' versions add up to ${versions}, and the log stands at event ${position.seq}`,
  );
}

export function sumOfVersions({ agents }: LedgerState): number {
  let versions = 0;
  for (const { version } of agents.values()) versions += version;
  return versions;
}
