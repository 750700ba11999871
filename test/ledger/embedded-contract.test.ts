import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { setLedgerTimeBack } from '#core/ledger/embedded/set-time-back.ts';
import type { World } from './case.ts';
import { logInto, newFolder } from './embedded-harness.ts';
import { describeLedgerContract } from './ledger-contract.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

describeLedgerContract('embedded', async ({ clock }) => {
  const dataDir = newFolder();
  const open = () => openEmbeddedLedger({ dataDir, clock, log: logInto([]), openJournal: openJournalHere });
  return {
    ledger: await open(),
    async setTimeBack(this: World) {
      await this.ledger.close();
      const beforeChange = async () => undefined;
      await setLedgerTimeBack({ dataDir, nowMs: clock.now(), openJournal: openJournalHere, beforeChange });
      this.ledger = await open();
    },
  };
});
