import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import type { Command } from '#core/ledger/command.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { createLog } from '#core/log.ts';
import { openingOf, reserveOf, settleOf } from './bench-commands.ts';

const AGENTS = 640;
const CALLERS = 64;
const CACHE = join(import.meta.dirname, '../../.cache');

/**
 * Calls a second that the embedded ledger holds, settles and has in its history: a call's row is part of the commit that
 * makes its settlement durable, so none is behind.
 */
export async function measureEmbeddedHistory(options: { calls: number; rounds: number }): Promise<number[]> {
  await mkdir(CACHE, { recursive: true });
  const dataDir = await mkdtemp(join(CACHE, 'bench-history-'));
  const ledger = await openEmbeddedLedger({ dataDir, clock: systemClock, log: createLog() });
  const ids = createIdSource(systemClock);
  const run = async (command: Command): Promise<void> => {
    const { result, durable } = await ledger.execute(command);
    if (!result.ok) throw new Error(`${command.type}: ${result.reason}`);
    if ((await durable) !== 'durable') throw new Error(`${command.type}: not on the disk in time`);
  };
  try {
    for (let agentId = 1; agentId <= AGENTS; agentId++) {
      for (const command of openingOf(agentId, systemClock.now())) await run(command);
    }
    const perSecond: number[] = [];
    const callsOfRound = Math.ceil(options.calls / options.rounds);
    for (let round = 0; round < options.rounds; round++) {
      let begun = 0;
      const caller = async (): Promise<void> => {
        while (begun < callsOfRound) {
          const agentId = 1 + (begun++ % AGENTS);
          const callId = ids.next();
          await run(reserveOf(agentId, callId, systemClock.now()));
          await run(settleOf(agentId, callId));
        }
      };
      const startedMs = performance.now();
      await Promise.all(Array.from({ length: CALLERS }, caller));
      perSecond.push((callsOfRound * 1_000) / (performance.now() - startedMs));
    }
    const first = await ledger.history.list({ agentId: 1, limit: 1 });
    if (first === 'unavailable' || first.length === 0) throw new Error('there is no history');
    return perSecond;
  } finally {
    await ledger.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
