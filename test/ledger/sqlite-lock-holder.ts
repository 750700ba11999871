import { systemClock } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';

/** A process that owns a folder until it is killed. */
const log = { info() {}, warn() {}, error() {} };
await openEmbeddedLedger({ dataDir: process.argv[2] ?? '', clock: systemClock, log });
process.stdout.write('open\n');
