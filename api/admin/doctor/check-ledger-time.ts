import { type Clock, isoTime } from '#core/clock.ts';
import { readClockFile } from '#core/clock-file.ts';
import { inWords } from '#core/in-words.ts';
import { readLedgerTime } from '#core/ledger/embedded/sqlite-ledger-time.ts';
import { CLOCK_APART_MAX_MS, CLOCK_JUMP_MIN_MS } from '#core/limits.ts';
import type { StorageConfig } from '../../config/storage-settings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'ledger time';

/** Whether the ledger of a data folder waits for the clock of this machine, or its gateway doubts that clock. */
export function checkLedgerTime({ dataDir }: Pick<StorageConfig, 'dataDir'>, clock: Clock): Finding[] {
  const nowMs = clock.now();
  const ledgerMs = readLedgerTime(dataDir);
  const doubtedAheadMs = readClockFile(dataDir)?.doubtedAheadMs ?? 0;
  return [
    describe(ledgerMs, nowMs),
    ...(doubtedAheadMs > CLOCK_JUMP_MIN_MS
      ? [
          warning(
            'clock jump',
            `the clock of this machine jumped ${inWords(doubtedAheadMs)} ahead, and the gateway does not believe it`,
            'Set it right; or if it is right, run faregate clock accept, or start the gateway again.',
          ),
        ]
      : []),
  ];
}

function describe(ledgerMs: number | null, nowMs: number): Finding {
  if (ledgerMs === null) return ok(CHECK, 'nothing is written yet');
  const aheadMs = ledgerMs - nowMs;
  if (aheadMs <= CLOCK_APART_MAX_MS)
    return ok(CHECK, `it is not ahead of the clock; the last event is of ${isoTime(ledgerMs)}`);
  const waitMs = aheadMs - CLOCK_APART_MAX_MS;
  return problem(
    CHECK,
    `it is ${inWords(aheadMs)} ahead of this machine's clock: no call starts for ${inWords(waitMs)}, until ${isoTime(nowMs + waitMs)}`,
    "If the machine's clock is right, stop the gateway, run faregate clock repair, and start it; else set the clock right.",
  );
}
