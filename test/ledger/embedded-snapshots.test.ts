import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { foldJournal } from '#core/ledger/embedded/journal-fold.ts';
import type { AgentView } from '#core/ledger/ledger.ts';
import { SNAPSHOT_EVENTS, SNAPSHOT_MS } from '#core/limits.ts';
import { charged, chargedBefore, does, ok, type Row, readAgent } from './case.ts';
import { agentWith, grant, putKey, reserve, setAgent, settle } from './commands.ts';
import {
  copyFiles,
  createJournalTap,
  type EmbeddedWorld,
  openWorld,
  restart,
  run,
  until,
} from './embedded-harness.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function headOf(dataDir: string) {
  const file = join(dataDir, 'ledger.sqlite');
  const journal = await openJournalHere(file, { onBroken: () => {} });
  closers.push(() => journal.close());
  return (await foldJournal(journal, file)).head;
}

const manyAgents = (count: number): Row[] =>
  Array.from({ length: count }, (_, i) => does(setAgent({ agentId: 100 + i, sourceVersion: 1 }), ok));

/** As the process that dies would leave it. */
async function crash(world: EmbeddedWorld): Promise<EmbeddedWorld> {
  return openWorld({ dataDir: copyFiles(world), clock: world.clock });
}

test('five minutes after a change its agent is in a snapshot, and a start folds nothing', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(reserve(1, 10n), ok));
  expect(await headOf(copyFiles(world))).toMatchObject({ lastSeq: 4, checkpointSeq: 0 });
  const commits = world.ledger.stats().commits;
  world.clock.advance(SNAPSHOT_MS);
  await until(() => world.ledger.stats().commits > commits);
  expect(await headOf(copyFiles(world))).toMatchObject({ lastSeq: 4, checkpointSeq: 4 });
});

test('a snapshot is due after so many events, and holds only what changed since the last', async () => {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(world, ...manyAgents(30));
  const touch = async (version: number) =>
    void (await world.ledger.execute(setAgent({ agentId: 1, sourceVersion: version })(world)));
  for (let i = 1; i <= SNAPSHOT_EVENTS; i++) await touch(i);
  await until(() => tap.batches.some((batch) => batch.checkpointSeq !== null));
  expect(tap.batches.reduce((sum, batch) => sum + batch.agents, 0)).toBe(31);
  tap.batches.length = 0;
  for (let i = 1; i <= SNAPSHOT_EVENTS; i++) await touch(SNAPSHOT_EVENTS + i);
  await until(() => tap.batches.some((batch) => batch.checkpointSeq !== null));
  expect(tap.batches.reduce((sum, batch) => sum + batch.agents, 0)).toBe(1);
});

test('a crash in the middle of a snapshot loses nothing and doubles nothing', async () => {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(world, ...agentWith(100n), ...manyAgents(250), does(reserve(1, 10n), ok));
  world.clock.advance(SNAPSHOT_MS);
  await until(() => tap.batches.filter((batch) => batch.agents > 0).length === 2);
  tap.failNext('before');
  // The round is cut off; meanwhile one of the agents that it wrote changes once more.
  await world.ledger.execute(settle(1, 4n)(world));
  await until(() => world.ledger.stats().state === 'recovering');
  const copy = copyFiles(world);
  const head = await headOf(copy);
  expect(head).toMatchObject({ checkpointSeq: 0, lastSeq: 254 });
});

/** After a snapshot the agent's version stands for those of its keys. */
const unversioned = ({ keys, ...agent }: AgentView) => ({
  ...agent,
  keys: keys.map(({ version, ...key }) => key),
});

test('an agent whose snapshot is newer than the checkpoint is not changed twice', async () => {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(world, ...manyAgents(250), ...agentWith(100n));
  world.clock.advance(SNAPSHOT_MS);
  await until(() => tap.batches.filter((batch) => batch.agents > 0).length === 1);
  await run(world, does(grant(1n, { grantId: 'grant-2' }), ok), does(reserve(1, 10n), ok));
  await run(world, does(settle(1, 4n), charged(4n)));
  await until(() => tap.batches.some((batch) => batch.checkpointSeq !== null));
  const again = await crash(world);
  expect(unversioned(await readAgent(again.ledger, 1))).toEqual(
    unversioned(await readAgent(world.ledger, 1)),
  );
});

test('a settle repeated after a restart is answered as it was, whatever the snapshot contains', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(reserve(1, 10n), ok), does(settle(1, 3n), charged(3n)));
  world.clock.advance(SNAPSHOT_MS);
  await until(() => world.ledger.stats().commits === 6);
  await run(world, does(reserve(2, 10n), ok), does(settle(2, 4n), charged(4n)));
  let again = await crash(world);
  again.callIds = world.callIds;
  await run(again, does(settle(1, 9n), chargedBefore(3n)), does(settle(2, 9n), chargedBefore(4n)));
  await run(again, does(reserve(1, 1n), { ok: false, reason: 'done', chargedNanoUsd: 3n }));
  again = await restart(again);
  again.callIds = world.callIds;
  await run(again, does(settle(1, 9n), chargedBefore(3n)), does(settle(2, 9n), chargedBefore(4n)));
  again.clock.set(again.clock.now() + HOUR_MS);
  await run(again, does(settle(1, 9n), { ok: false, reason: 'no_hold' }));
});

test('a clean stop leaves one file, and nothing to fold', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(putKey(2), ok));
  await world.ledger.close();
  expect(readdirSync(world.dataDir).sort()).toEqual(['ledger.lock', 'ledger.sqlite']);
  expect(await headOf(copyFiles(world))).toMatchObject({ lastSeq: 4, checkpointSeq: 4 });
});

test('the ledger of a restart goes on where it was, and its time too', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n));
  const view = await readAgent(world.ledger, 1);
  world.clock.set(world.clock.now() - 10 * SECOND_MS);
  const again = await restart(world);
  expect(unversioned(await readAgent(again.ledger, 1))).toEqual(unversioned(view));
  await run(again, does(grant(1n, { grantId: 'grant-2' }), ok), does(putKey(3), ok));
  const keys = (await readAgent(again.ledger, 1)).keys;
  expect(keys.find((key) => key.keyId === 3)?.createdAtMs).toBe(keys[0]?.createdAtMs);
});
