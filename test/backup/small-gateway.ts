import { createSecretKey } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { writePepper } from '#core/accounts/pepper-file.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { does, ok, type Row, START_MS } from '../ledger/case.ts';
import { grant, putKey, setAgent } from '../ledger/commands.ts';
import { logInto, newFolder, run } from '../ledger/embedded-harness.ts';
import { hashOf, PEPPER_ID } from '../ledger/random-command.ts';
import { openJournalHere } from '../ledger/sqlite-journal-here.ts';
import { createFakeClock } from '../support/fake-clock.ts';

export const pepperOf = (id: string, byte = 0) => ({ id, secret: createSecretKey(Buffer.alloc(32, byte)) });

/** An active agent with a key of its own, as `ownKey` names it, and credit. */
export const openingOf = (
  agentId: number,
  nanoUsd = 1_000n,
  hash = hashOf(agentId, ownKey(agentId)),
): readonly Row[] => [
  does(setAgent({ agentId }), ok),
  does(putKey(ownKey(agentId), { agentId, hash }), ok),
  does(grant(nanoUsd, { agentId, grantId: 'opening' }), ok),
];

export const ownKey = (agentId: number): number => agentId * 10 + 5;

/** The folder of a gateway that ran and was stopped; of its own until the test is over, unless `dataDir` is given. */
export async function smallGateway({
  dataDir = newFolder(),
  pepper = pepperOf(PEPPER_ID) as ReturnType<typeof pepperOf> | null,
  rows = openingOf(1),
} = {}): Promise<string> {
  mkdirSync(dataDir, { recursive: true });
  if (pepper !== null) writePepper(dataDir, pepper);
  const clock = createFakeClock(START_MS);
  const ledger = await openEmbeddedLedger({ dataDir, clock, log: logInto([]), openJournal: openJournalHere });
  await run({ ledger, clock, callIds: new Map() }, ...rows);
  await ledger.close();
  return dataDir;
}
