import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, systemClock } from '#core/clock.ts';
import { runCli } from '../../api/admin/cli/run-cli.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';

const START_MS = Date.UTC(2026, 10, 18, 10);
const JUMPS = [
  ['ten minutes', 10 * MINUTE_MS],
  ['two hours', 2 * HOUR_MS],
  ['three days', 3 * DAY_MS],
] as const;

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'faregate-clock-'));
  folders.push(folder);
  return folder;
}

/** The same machine seen by its next process. */
const nextProcess = (machine: FakeClock, { aheadMs = 0 } = {}): FakeClock =>
  createFakeClock(machine.now() + aheadMs, { bootId: machine.bootId ?? '', uptimeMs: machine.uptimeMs() });

const call = async (gateway: TestGateway, agent: TestAgent): Promise<number> => {
  const res = await gateway.post(hello(), { agent });
  await res.text();
  return res.status;
};

async function readiness({ running }: TestGateway): Promise<{ status: number; body: unknown }> {
  const res = await fetch(`${running.internalUrl}/readyz`);
  return { status: res.status, body: await res.json() };
}

describe.each(JUMPS)('a clock that is wrong by %s', (_, jumpMs) => {
  test('ahead for two minutes while the gateway runs, it refuses no call, then or afterwards', async () => {
    const clock = createFakeClock(START_MS);
    await using gateway = await startTestGateway({ clock });
    expect(await call(gateway, gateway.agent)).toBe(200);
    clock.set(START_MS + jumpMs);
    clock.advance(MINUTE_MS);
    expect(await call(gateway, gateway.agent)).toBe(200);
    expect(await gateway.metric('faregate_clock_doubted_seconds')).toBe(jumpMs / SECOND_MS);
    clock.advance(MINUTE_MS);
    clock.set(START_MS + 2 * MINUTE_MS);
    expect(await call(gateway, gateway.agent)).toBe(200);
    expect(await gateway.metric('faregate_clock_doubted_seconds')).toBe(0);
    expect(await gateway.metric('faregate_ledger_ahead_seconds')).toBe(0);
    const { createdAtMs } =
      (await gateway.calls()).map(({ startedAtMs }) => ({ createdAtMs: startedAtMs }))[0] ?? {};
    expect(createdAtMs).toBeLessThan(START_MS + 5 * MINUTE_MS);
    expect(gateway.logged.map(({ event }) => event)).toContain(
      'the clock of this machine jumped ahead and is not believed, so time goes on without it',
    );
  });

  test('ahead at a start, it refuses no call, then or afterwards', async () => {
    const dataDir = await newFolder();
    const machine = createFakeClock(START_MS);
    const before = await startTestGateway({ clock: machine, dataDir });
    await before.stop();
    const clock = nextProcess(machine, { aheadMs: jumpMs });
    await using gateway = await startTestGateway({ clock, dataDir });
    expect(await call(gateway, gateway.agent)).toBe(200);
    expect(gateway.running.deps.clock.now()).toBeLessThan(START_MS + MINUTE_MS);
    clock.set(clock.now() - jumpMs);
    expect(await call(gateway, gateway.agent)).toBe(200);
  });

  test('behind for two minutes, it refuses no call', async () => {
    const clock = createFakeClock(START_MS);
    await using gateway = await startTestGateway({ clock });
    clock.set(START_MS - jumpMs);
    clock.advance(2 * MINUTE_MS);
    expect(await call(gateway, gateway.agent)).toBe(200);
    clock.set(START_MS + 2 * MINUTE_MS);
    expect(await call(gateway, gateway.agent)).toBe(200);
  });

  test('and believed, makes the gateway say why it refuses calls, for how long, and what to do', async () => {
    const clock = createFakeClock(START_MS);
    await using gateway = await startTestGateway({ clock });
    clock.set(START_MS + jumpMs);
    gateway.running.deps.clock.accept();
    expect(await call(gateway, gateway.agent)).toBe(200);
    clock.set(START_MS);
    clock.advance(5 * MINUTE_MS);
    // The step back has stood for five minutes, and is believed.
    gateway.running.deps.clock.now();
    clock.advance(5 * MINUTE_MS);
    const aheadMs = jumpMs - 10 * MINUTE_MS;
    expect(await gateway.metric('faregate_ledger_ahead_seconds')).toBe(Math.max(0, aheadMs / SECOND_MS));
    if (aheadMs <= 5 * MINUTE_MS) {
      expect(await call(gateway, gateway.agent)).toBe(200);
      return;
    }
    const untilMs = clock.now() + aheadMs - 5 * MINUTE_MS;
    const { status, body } = await readiness(gateway);
    expect({ status, body }).toMatchObject({ status: 503, body: { failing: ['clock'] } });
    expect(JSON.stringify(body)).toContain(`until ${new Date(untilMs).toISOString()}`);
    expect(JSON.stringify(body)).toContain('faregate clock repair');
    const refused = await gateway.post(hello());
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after-ms'))).toBe(untilMs - clock.now());
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.text()).toContain(new Date(untilMs).toISOString());
    clock.set(untilMs);
    clock.advance(5 * MINUTE_MS);
    expect(await call(gateway, gateway.agent)).toBe(200);
    expect((await readiness(gateway)).status).toBe(200);
  });
});

test('a second start believes the jump that the first one told of', async () => {
  const dataDir = await newFolder();
  const machine = createFakeClock(START_MS);
  await (await startTestGateway({ clock: machine, dataDir })).stop();
  const second = nextProcess(machine, { aheadMs: 3 * DAY_MS });
  await (await startTestGateway({ clock: second, dataDir })).stop();
  const third = nextProcess(second);
  await using gateway = await startTestGateway({ clock: third, dataDir });
  expect(gateway.running.deps.clock.now()).toBe(third.now());
  await until(async () => (await call(gateway, gateway.agent)) === 200);
});

test('faregate clock accept makes a running gateway believe its clock, and is in the audit log', async () => {
  const clock = createFakeClock(START_MS);
  await using gateway = await startTestGateway({ clock });
  const { deps, internalUrl, adminToken } = gateway.running;
  const accept = async () => {
    const res = await fetch(`${internalUrl}/admin/clock/accept`, {
      ...{ method: 'POST', body: '{}' },
      headers: { authorization: `Bearer ${adminToken.reveal()}`, 'content-type': 'application/json' },
    });
    return { status: res.status, body: await res.json() };
  };
  expect(await accept()).toMatchObject({ status: 200, body: { accepted: false } });
  clock.set(START_MS + 2 * HOUR_MS);
  expect(await accept()).toEqual({
    status: 200,
    body: { accepted: true, now: new Date(START_MS + 2 * HOUR_MS).toISOString() },
  });
  expect(deps.clock.now()).toBe(START_MS + 2 * HOUR_MS);
  expect(await deps.store.audit.list({ limit: 5 })).toContainEqual(
    expect.objectContaining({ action: 'clock.accept' }),
  );
});

test('faregate doctor tells of a ledger that is ahead and faregate clock repair sets it back, with a line in the audit log', async () => {
  const dataDir = await newFolder();
  // Of the machine that runs the commands, whose clock is the real one.
  const machine = createFakeClock(systemClock.now() + 3 * HOUR_MS);
  const before = await startTestGateway({ clock: machine, dataDir });
  await before.stop();
  const env = { FAREGATE_DATA: dataDir, PORT: '0', INTERNAL_PORT: '0' };
  const doctor = await runCommand(env, 'doctor');
  expect(doctor.out).toMatch(
    /ledger time\s+problem\s+it is 2 h 59 min ahead|ledger time\s+problem\s+it is 3 h/,
  );
  expect(doctor.out).toContain('faregate clock repair');
  expect(await runCommand(env, 'clock', 'repair')).toMatchObject({ code: 2 });
  // A wait that is not a number would have been no wait at all.
  expect(await runCommand(env, 'clock', 'repair', '--yes', '--wait', 'soon')).toMatchObject({
    code: 2,
    err: expect.stringContaining('soon is no number of seconds to wait.'),
  });
  const repaired = await runCommand(env, 'clock', 'repair', '--yes');
  expect(repaired).toMatchObject({ code: 0, err: '' });
  expect(repaired.out).toContain("The ledger's time was set back");
  expect((await runCommand(env, 'doctor')).out).toMatch(/ledger time\s+ok/);
  expect((await runCommand(env, 'clock', 'repair', '--yes')).out).toContain('nothing was changed');
  await using gateway = await startTestGateway({ dataDir });
  expect((await readiness(gateway)).status).toBe(200);
  expect(await call(gateway, gateway.agent)).toBe(200);
  expect(await gateway.running.deps.store.audit.list({ limit: 5 })).toContainEqual(
    expect.objectContaining({ action: 'clock.repair', ended: expect.objectContaining({ result: 'ok' }) }),
  );
});

/** The command in this process. */
async function runCommand(env: Record<string, string>, ...args: string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const code = await runCli(args, { environment: cliEnvironment(env), stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}
