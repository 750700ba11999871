import { beforeEach } from 'vitest';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { openWorld } from './embedded-harness.ts';
import { describeRaces, type RacedLedger } from './races.ts';

let raced: RacedLedger;

beforeEach(async () => {
  const { ledger, clock } = await openWorld();
  const events: LedgerEvent[] = [];
  ledger.onEvent((event) => events.push(event));
  raced = { ledgers: [ledger], clock, newEvents: async () => events.splice(0) };
});

describeRaces('embedded', () => raced);
