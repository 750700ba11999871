import type { Executed, Ledger } from '#core/ledger/ledger.ts';

const unavailable: Executed<never> = {
  result: { ok: false, reason: 'unavailable' },
  durable: Promise.resolve('durable'),
};

/** Decides nothing, as a ledger does while it recovers. */
export const decideNothing: Ledger['execute'] = () => Promise.resolve(unavailable);

/** The same ledger, which decides nothing at this moment. */
export const unavailableLedger = (ledger: Ledger): Ledger => ({ ...ledger, execute: decideNothing });
