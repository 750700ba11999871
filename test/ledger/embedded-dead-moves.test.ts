import { expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { LOG_KEPT_MS } from '#core/limits.ts';
import { day, does, lots, ok, type Row, sees } from './case.ts';
import { agentWith, moveIn, moveOut, setAgent } from './commands.ts';
import { copyFiles, type EmbeddedWorld, openWorld, restart, run } from './embedded-harness.ts';

const movedIn = { ok: true, repeated: false, expiredNanoUsd: 0n };
const movedInBefore = { ok: true, repeated: true, expiredNanoUsd: 0n };

/** Killed after these, and started again. */
async function crashAfter(...rows: Row[]): Promise<EmbeddedWorld> {
  const world = await openWorld();
  await run(world, ...agentWith(100n), ...rows);
  return openWorld({ dataDir: copyFiles(world), clock: world.clock });
}

test('a trade that a crash cut off between its halves ends at the next start, once', async () => {
  const world = await crashAfter(
    does(moveOut('1:t1', 30n), ok),
    does(moveOut('1:t2', 20n), ok),
    does(moveIn('1:t2', 20n, { agentId: 2 }), movedIn),
    does(moveOut('1:t3', 10n, { buyerAgentId: 1 }), ok),
  );
  const both = [
    sees(1, { lots: lots([8, 50n, 0n]), movedOutNanoUsd: 60n, movedInNanoUsd: 10n }),
    sees(2, { lots: lots([8, 50n, 0n]), movedInNanoUsd: 50n }),
  ];
  await run(world, ...both);
  expect(world.lines).toEqual([['warn', expect.stringContaining('trades cut off by a crash')]]);
  // Whoever tells of it again hears that it is done.
  await run(world, does(moveOut('1:t1', 30n), { ok: true, repeated: true }));
  await run(world, does(moveIn('1:t1', 30n, { agentId: 2 }), movedInBefore), ...both);
  const again = await restart(world);
  await run(again, ...both);
  expect(again.lines).toEqual([]);
});

test('a refused sale gives its buyer nothing at the next start', async () => {
  const refused = { ok: false, repeated: false, reason: 'balance' };
  const world = await crashAfter(does(moveOut('1:t1', 101n), refused));
  await run(world, sees(1, { lots: lots([8, 100n, 0n]) }));
  expect(await world.ledger.readAgent(2)).toBeNull();
});

test('what a buyer was given is not given again when its trade is forgotten', async () => {
  const world = await crashAfter(
    does(moveOut('1:t1', 30n), ok),
    does(moveIn('1:t1', 30n, { agentId: 2 }), movedIn),
  );
  // The buyer's own events clear its half away; the seller has none.
  world.clock.set(day(8) + LOG_KEPT_MS + DAY_MS);
  await run(world, does(setAgent({ agentId: 2, mode: 'upsert', sourceVersion: 7 }), ok));
  const again = await restart(world);
  await run(again, sees(2, { movedInNanoUsd: 30n }));
  expect(again.lines).toEqual([]);
});
