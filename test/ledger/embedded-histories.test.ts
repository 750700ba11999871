import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { foldJournal } from '#core/ledger/embedded/journal-fold.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import { SNAPSHOT_MS } from '#core/limits.ts';
import { nextTurn } from '#core/wait.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { START_MS } from './case.ts';
import { comparable, copyFiles, logInto, newFolder, until } from './embedded-harness.ts';
import { createDraw } from './history/random.ts';
import { randomCommand } from './random-command.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

const HISTORIES = 8;
const STEPS = 120;

async function foldOf(dataDir: string): Promise<LedgerState> {
  const file = join(dataDir, 'ledger.sqlite');
  const journal = await openJournalHere(file, { onBroken: () => {} });
  try {
    return (await foldJournal(journal, file)).state;
  } finally {
    await journal.close();
  }
}

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`whatever happened, a start finds exactly what the state machine has (seed ${seed})`, async () => {
  for (let history = 0; history < HISTORIES; history++) {
    const random = createDraw(seed + history);
    const clock = createFakeClock(START_MS);
    const dataDir = newFolder();
    const model: MemoryLedger = createMemoryLedger({ clock });
    const ledger = await openEmbeddedLedger({
      dataDir,
      clock,
      log: logInto([]),
      openJournal: openJournalHere,
    });
    const world = { ledger: model, clock, callIds: new Map<number, number>() };
    clock.set(START_MS + 8 * MINUTE_MS);
    for (let step = 0; step < STEPS; step++) {
      const command = randomCommand(random, world);
      const expected = await model.execute(command);
      const { result, durable } = await ledger.execute(command);
      expect(result, `seed ${seed + history}, step ${step}, ${command.type}`).toEqual(expected.result);
      if (random(3) === 0) await durable;
      if (random(9) === 0) clock.set(clock.now() + random(20_000));
      if (random(40) === 0) clock.set(clock.now() + random(2) * DAY_MS + 9 * MINUTE_MS);
      if (random(10) > 1) continue;
      await until(() => ledger.stats().lagEvents === 0);
      if (random(2) === 0) clock.advance(SNAPSHOT_MS);
      // At rest, or in the middle of a snapshot.
      if (random(2) === 0) for (let turn = 0; turn < 3; turn++) await nextTurn();
      const folded = await foldOf(copyFiles({ dataDir }));
      const nowMs = clock.now();
      expect(comparable(folded, nowMs), `seed ${seed + history}, step ${step}`).toEqual(
        comparable(model.state, nowMs),
      );
    }
    await ledger.close();
  }
});
