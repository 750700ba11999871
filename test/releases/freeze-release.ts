import { copyFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { ledgerEvent } from '#core/events/ledger-event.ts';
import { serializeAgent } from '#core/ledger/machine/agent-snapshot.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { documentFile, documentNames, lastRelease } from './last-release.ts';
import { writeHistory } from './write-history.ts';

/**
 * `node test/releases/freeze-release.ts`, once when a release goes out and never between two: what it writes and can read is
 * what the next one is held to, and so is the interface that it describes.
 */
const events = writeHistory(5, 2_000);
const folded = emptyLedger();
for (const event of events) foldEvent(folded, event);
const lines = (texts: readonly string[]) => `${texts.join('\n')}\n`;
writeFileSync(lastRelease.schema, `${JSON.stringify(z.toJSONSchema(ledgerEvent), null, 1)}\n`);
writeFileSync(lastRelease.events, lines(events.map((event) => JSON.stringify(event))));
writeFileSync(lastRelease.agents, lines(Array.from(folded.agents.values(), serializeAgent)));
for (const name of documentNames) copyFileSync(documentFile(name), lastRelease.documents[name]);
