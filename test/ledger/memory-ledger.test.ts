import { createMemoryLedger } from '../support/memory-ledger.ts';
import { describeLedgerContract } from './ledger-contract.ts';

describeLedgerContract('straight over decide and apply', async (options) => {
  const ledger = createMemoryLedger(options);
  return { ledger, setTimeBack: async () => ledger.setTimeBack() };
});
