import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS, startOfDayMs } from '../../clock.ts';
import type { LedgerEventOf } from '../../events/ledger-event.ts';
import { LOT_DAYS_MAX } from '../../limits.ts';
import { apply } from '../machine/apply.ts';
import { isAhead } from '../machine/is-ahead.ts';
import type { AgentState, LedgerState } from '../machine/state.ts';
import type { OpenJournal } from './journal.ts';
import { openFolded } from './journal-recovery.ts';
import { packEvents } from './packed-events.ts';
import { lockFolder } from './sqlite-folder-lock.ts';
import { openJournalThread } from './sqlite-journal-thread.ts';

export interface LedgerTimeSet {
  /** The ledger's time before. */
  fromMs: number;
  /** False: it was not ahead, and nothing was changed. */
  isSet: boolean;
  /** Credit that ends later than a grant of today would: it was granted while the clock was ahead, and keeps its date. */
  longerLots: { agentId: number; expiresAtMs: number }[];
}

/**
 * Sets the time of a data folder's ledger back to `nowMs`, while no gateway runs there. Nothing that happened is undone:
 * events stay, credit that was expired stays expired, and credit that was granted keeps its date. The journal gets one event that
 * changes nothing and bears the new time, from which the next start goes on; `isAhead` makes its rules ignore what was stamped
 * in the time that is given up. `beforeChange` may throw.
 *
 * Throws `FolderInUseError` where a gateway runs, and the errors of `openEmbeddedLedger` where the journal cannot be used.
 */
export async function setLedgerTimeBack(options: {
  dataDir: string;
  nowMs: number;
  beforeChange: (fromMs: number) => Promise<void>;
  /** The file's journal, unless a test has one without a thread. */
  openJournal?: OpenJournal;
}): Promise<LedgerTimeSet> {
  const { dataDir, nowMs, beforeChange, openJournal = openJournalThread } = options;
  const file = join(dataDir, 'ledger.sqlite');
  // A folder without a ledger is not given one.
  if (!existsSync(file)) return { fromMs: 0, isSet: false, longerLots: [] };
  const lock = lockFolder(dataDir);
  try {
    const { journal, folded } = await openFolded(openJournal, file, () => {});
    try {
      const { state, head, calls } = folded;
      const [agent] = state.agents.values();
      const longerLots = findLongerLots(state, nowMs);
      if (agent === undefined || !isAhead(head.lastAtMs, nowMs)) {
        return { fromMs: head.lastAtMs, isSet: false, longerLots };
      }
      await beforeChange(head.lastAtMs);
      const event = unchangedAgent(agent, nowMs);
      // Proves that the next start can fold it.
      apply(state, event);
      const seq = head.lastSeq + 1;
      await journal.commit({
        ...{ firstSeq: seq, lastSeq: seq, atMs: nowMs, events: packEvents([event]), ended: '' },
        ...{ calls, videos: [], agents: [], checkpointSeq: null },
      });
      return { fromMs: head.lastAtMs, isSet: true, longerLots };
    } finally {
      await journal.close();
    }
  } finally {
    lock.release();
  }
}

/** Says of an agent what its ledger knows already. */
function unchangedAgent(agent: AgentState, nowMs: number): LedgerEventOf<'agent_set'> {
  const [first] = agent.statusBySource;
  const [source, said] = first ?? ['clock repair', { sourceVersion: 0, status: 'inactive' as const }];
  return {
    ...{ v: 1, type: 'agent_set', agentId: agent.agentId, version: agent.version + 1, atMs: nowMs },
    ...{ source, ...said, name: agent.name, token: agent.token },
  };
}

function findLongerLots({ agents }: LedgerState, nowMs: number): LedgerTimeSet['longerLots'] {
  const lastMs = startOfDayMs(nowMs) + LOT_DAYS_MAX * DAY_MS;
  return Array.from(agents.values()).flatMap(({ agentId, lots }) =>
    lots.flatMap(({ expiresAtMs }) => (expiresAtMs > lastMs ? [{ agentId, expiresAtMs }] : [])),
  );
}
