import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { readLedgerTime } from '#core/ledger/embedded/sqlite-ledger-time.ts';
import { runFaregate } from '../backup/run-cli.ts';
import { compileCache } from '../support/compile-cache.ts';
import { until } from '../support/gateway.ts';
import { type Caller, prepareCallers } from '../support/kill-gateway.ts';
import { createMovingClock, type MovingClock } from '../support/moving-clock.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

const TWO_HOURS_S = (2 * HOUR_MS) / SECOND_MS;

let dataDir: string;
let provider: TestProvider;
let clock: MovingClock;
let caller: Caller;
let port: number;
let gateway: NodeProcess | null = null;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'faregate-clock-'));
  provider = await startTestProvider();
  clock = createMovingClock(join(dataDir, 'moved-clock'));
  [caller] = (await prepareCallers(dataDir, 500_000_000n)) as [Caller];
  port = await freePort();
  await writeFile(
    join(dataDir, 'faregate.yaml'),
    `server: { port: ${port}, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: sim, kind: simulator, baseUrl: ${provider.baseUrl} }]
`,
  );
});
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  await provider.close();
  await rm(dataDir, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const files = () => ({ FAREGATE_CONFIG: join(dataDir, 'faregate.yaml'), FAREGATE_DATA: dataDir });

/** `api/main.ts`, as an operator runs it, with clocks that this test moves. */
async function start({ ready = true } = {}): Promise<NodeProcess> {
  gateway = await startNodeProcess({
    command: ['api/main.ts'],
    internalPort: await freePort(),
    output: join(dataDir, 'gateway.log'),
    env: { ...compileCache, ...files(), ...clock.env },
    ready,
  });
  return gateway;
}

async function call(): Promise<number> {
  const res = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'faregate-sim/small',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 8,
    }),
  });
  await res.text();
  return res.status;
}

const readiness = async ({ internalUrl }: NodeProcess): Promise<number> =>
  (await fetch(`${internalUrl}/readyz`)).status;

/** Its own clock is the one that the test moves, too. */
const doctor = async (): Promise<string> =>
  (await runFaregate(['doctor'], { dataDir, env: { ...files(), ...clock.env } })).out;

async function expectServing(running: NodeProcess): Promise<void> {
  expect(await call()).toBe(200);
  expect(await readiness(running)).toBe(200);
  const ledgerMs = readLedgerTime(dataDir) ?? 0;
  expect(Math.abs(ledgerMs - Date.now())).toBeLessThan(HOUR_MS);
}

test('a process whose clock is two hours ahead for a while serves every call, across a restart and afterwards', async () => {
  if (!clock.moves) return;
  let running = await start();
  await expectServing(running);
  expect(await doctor()).toMatch(/ledger time\s+ok/);

  clock.aheadBy(TWO_HOURS_S);
  await expectServing(running);
  await until(async () => (await running.metric('faregate_clock_doubted_seconds')) > TWO_HOURS_S - 60);
  expect(await running.metric('faregate_ledger_ahead_seconds')).toBe(0);

  clock.aheadBy(0);
  expect(await running.stop()).toBe(0);
  clock.aheadBy(TWO_HOURS_S);
  running = await start();
  await expectServing(running);
  expect(await doctor()).toMatch(/clock jump\s+warning\s+the clock of this machine jumped/);

  clock.aheadBy(0);
  await expectServing(running);
  expect(await running.metric('faregate_clock_doubted_seconds')).toBe(0);
  expect(await running.stop()).toBe(0);
  running = await start();
  await expectServing(running);
  const found = await doctor();
  expect(found).toMatch(/ledger time\s+ok/);
  expect(found).not.toContain('clock jump');
});

test('a process that believed the wrong clock says so until faregate clock repair, and then serves calls', async () => {
  if (!clock.moves) return;
  // A first start of a new folder has nothing to compare its clock with.
  clock.aheadBy(TWO_HOURS_S);
  let running = await start();
  expect(await call()).toBe(200);
  await running.stop();
  clock.aheadBy(0);
  await rm(join(dataDir, 'clock.json'));

  running = await start({ ready: false });
  await until(async () => (await readiness(running).catch(() => 0)) === 503);
  await until(async () => (await call().catch(() => 0)) === 503);
  const found = await doctor();
  expect(found).toMatch(/ledger time\s+problem\s+it is (2 h|1 h 59 min)/);
  expect(found).toContain('faregate clock repair');
  await running.stop();
  const repaired = await runFaregate(['clock', 'repair', '--yes'], {
    dataDir,
    env: { ...files(), ...clock.env },
  });
  expect(repaired).toMatchObject({ code: 0, err: '' });
  await expectServing(await start());
});

test('faregate clock repair drops a wrong time that only the last process had, so that the next one does not go on from it', async () => {
  const running = await start();
  await running.stop();
  const file = join(dataDir, 'clock.json');
  const left = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...left, atMs: left.atMs + 4 * TWO_HOURS_S * 1_000 }));
  const repaired = await runFaregate(['clock', 'repair', '--yes'], { dataDir, env: files() });
  expect(repaired).toMatchObject({ code: 0, err: '' });
  await expect(readFile(file, 'utf8')).rejects.toThrow('ENOENT');
});
