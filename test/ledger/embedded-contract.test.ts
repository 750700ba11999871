import { openEmbeddedLedger } from '#core/ledger/embedded-ledger.ts';
import { logInto, newFolder } from './embedded-harness.ts';
import { describeLedgerContract } from './ledger-contract.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

describeLedgerContract('embedded', ({ clock }) =>
  openEmbeddedLedger({ dataDir: newFolder(), clock, log: logInto([]), openJournal: openJournalHere }),
);
