import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { backUpFolder } from '#core/backup/back-up-folder.ts';
import { restoreFolder } from '#core/backup/restore-folder.ts';
import { HOUR_MS, MINUTE_MS, systemClock } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { setLedgerTimeBack } from '#core/ledger/embedded/set-time-back.ts';
import { runCli } from '../../api/admin/cli/run-cli.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';
import { at, day, does, ok, type Row, refused, START_MS, sees } from '../ledger/case.ts';
import { expire, grant, putKey, reserve, setAgent } from '../ledger/commands.ts';
import { logInto, newFolder, run } from '../ledger/embedded-harness.ts';
import { hashOf, PEPPER_ID } from '../ledger/random-command.ts';
import { openJournalHere } from '../ledger/sqlite-journal-here.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway } from '../support/gateway.ts';
import { pepperOf, smallGateway } from './small-gateway.ts';

const fine = async () => {};

/** The command in this process, whose clock is the machine's. */
async function runCommand(dataDir: string, ...args: string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const env = { FAREGATE_DATA: dataDir, PORT: '0', INTERNAL_PORT: '0' };
  const code = await runCli(args, { environment: cliEnvironment(env), stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

test('a backup that was made while the clock was ahead says so, and faregate clock repair after its restore ends the wait', async () => {
  const file = join(newFolder(), 'backup');
  const dataDir = join(newFolder(), 'restored');
  // The machine that runs the commands is right.
  await using wrong = await startTestGateway({ clock: createFakeClock(systemClock.now() + 3 * HOUR_MS) });
  expect((await wrong.post(hello())).status).toBe(200);
  await wrong.settled();

  const ahead =
    /ledger's time is (3 h|2 h 59 min).* ahead of this machine's: the gateway starts no call for 2 h 5\d min/;
  const backup = await runCommand(wrong.dataDir, 'backup', file);
  expect(backup).toMatchObject({ code: 0, err: '', out: expect.stringMatching(ahead) });
  const restored = await runCommand(dataDir, 'restore', file);
  expect(restored).toMatchObject({ code: 0, err: '', out: expect.stringMatching(ahead) });
  expect(restored.out).toContain('run faregate clock repair before you start the gateway');

  const call = async () => {
    await using gateway = await startTestGateway({ dataDir, provider: wrong.provider });
    const res = await gateway.post(hello(), { agent: wrong.agent });
    await res.text();
    return res.status;
  };
  expect(await call()).toBe(503);
  expect(await runCommand(dataDir, 'clock', 'repair', '--yes')).toMatchObject({ code: 0 });
  expect(await call()).toBe(200);
});

test('a backup of the present says nothing about clocks', async () => {
  const file = join(newFolder(), 'backup');
  await using gateway = await startTestGateway();
  expect((await runCommand(gateway.dataDir, 'backup', file)).out).not.toContain('clock');
  const restored = await runCommand(join(newFolder(), 'restored'), 'restore', file);
  expect(restored).toMatchObject({ code: 0, err: '' });
  expect(restored.out).not.toContain('clock');
});

test('a backup from before a jump that was believed serves calls at once, and its ledger is not written ahead', async () => {
  const file = join(newFolder(), 'backup');
  const machine = createFakeClock(START_MS);
  const dataDir = newFolder();
  const before = await startTestGateway({ clock: machine, dataDir });
  const { agent } = before;
  await backUpFolder({ dataDir, file, nowMs: machine.now() });
  machine.set(START_MS + 2 * HOUR_MS);
  before.running.deps.clock.accept();
  expect((await before.post(hello())).status).toBe(200);
  await before.settled();
  await before.stop();

  machine.set(START_MS + MINUTE_MS);
  await restoreFolder({ archive: file, dataDir, nowMs: machine.now(), uptime: machine, beforeChange: fine });
  const clock = createFakeClock(machine.now(), {
    bootId: machine.bootId ?? '',
    uptimeMs: machine.uptimeMs(),
  });
  await using after = await startTestGateway({ clock, dataDir });
  expect((await after.post(hello(), { agent })).status).toBe(200);
  expect(after.running.deps.clock.now()).toBe(clock.now());
  expect(after.running.deps.store.times().aheadMs).toBeLessThan(MINUTE_MS);
});

/** What a folder restored from the backup of `rows` does at `nowMs`. */
async function restoredAfter(rows: readonly Row[], nowMs: number) {
  const source = await smallGateway({ rows, pepper: pepperOf(PEPPER_ID) });
  const archive = join(newFolder(), 'backup');
  const dataDir = newFolder();
  await backUpFolder({ dataDir: source, file: archive, nowMs });
  await restoreFolder({ archive, dataDir, nowMs, beforeChange: fine });
  const set = await setLedgerTimeBack({ dataDir, nowMs, openJournal: openJournalHere, beforeChange: fine });
  const clock = createFakeClock(nowMs);
  const ledger = await openEmbeddedLedger({ dataDir, clock, log: logInto([]), openJournal: openJournalHere });
  return { world: { ledger, clock, callIds: new Map<number, number>() }, isSet: set.isSet };
}

const twoLots: readonly Row[] = [
  does(setAgent(), ok),
  does(putKey(1, { hash: hashOf(1, 1) }), ok),
  does(grant(5n, { grantId: 'one', expiresAtMs: day(1) }), ok),
  does(grant(7n, { grantId: 'two', expiresAtMs: day(8) }), ok),
];

test('credit that expired under a wrong clock does not come back by a backup and a repair', async () => {
  const { world, isSet } = await restoredAfter(
    [...twoLots, at(day(1)), does(expire(), { ok: true, expiredNanoUsd: 5n })],
    START_MS + MINUTE_MS,
  );
  expect(isSet).toBe(true);
  await run(
    world,
    sees(1, { expiredNanoUsd: 5n, lots: [{ expiresAtMs: day(8), freeNanoUsd: 7n }] }),
    does(reserve(1, 8n), refused('balance', { spendableNanoUsd: 7n, heldNanoUsd: 0n })),
    does(reserve(2, 7n), ok),
  );
  await world.ledger.close();
});

test('credit that has ended since the backup was made does not come back by its restore', async () => {
  const { world, isSet } = await restoredAfter(twoLots, day(1) + HOUR_MS);
  expect(isSet).toBe(false);
  await run(
    world,
    does(reserve(1, 8n), refused('balance', { spendableNanoUsd: 7n, heldNanoUsd: 0n })),
    does(expire(), { ok: true, expiredNanoUsd: 5n }),
    does(reserve(2, 7n), ok),
  );
  await world.ledger.close();
});
