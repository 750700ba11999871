import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadOrCreatePepper } from '#core/accounts/pepper-file.ts';
import { DAY_MS, isoTime, startOfDayMs, systemClock, wait } from '#core/clock.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { createDraw } from '../ledger/history/random.ts';
import { freePort } from '../services/free-port.ts';
import { testDataDir } from '../support/data-dir.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { tradeRecord } from './trades.ts';

const KILLS = 6;
/** Until one has fallen between two halves. */
const KILLS_MAX = 30;
const AGENTS = 8;
const GRANTED = 1_000n;
const TRADES = 6_000;
const PORTION = 200;
const TOKEN = 'test-admin-token-of-a-gateway-by-itself';

interface Fed {
  outcomes: { outcome: string; reason?: string }[];
}

test('a gateway by itself that is killed while it moves credit ends at its next start what was cut off, once', async () => {
  await using folder = await testDataDir();
  const dataDir = folder.path;
  const seed = systemClock.now() % 1_000_000;
  console.log(`seed ${seed}`);
  const draw = createDraw(seed);
  const expiresAtMs = startOfDayMs(systemClock.now()) + 4 * DAY_MS;
  const openLedger = () =>
    openEmbeddedLedger({ dataDir, clock: systemClock, log: { info() {}, warn() {}, error() {} } });

  const free = new Map<number, bigint>();
  const ledger = await openLedger();
  for (let agentId = 1; agentId <= AGENTS; agentId++) {
    await ledger.execute({ type: 'grant', agentId, grantId: 'g', expiresAtMs, nanoUsd: GRANTED });
    free.set(agentId, GRANTED);
  }
  await ledger.close();
  loadOrCreatePepper(dataDir, { ledgerInUse: false });

  const market = `credit-${isoTime(expiresAtMs).slice(0, 10)}`;
  const at = isoTime(systemClock.now());
  const refused = new Set<string>();
  const trades = Array.from({ length: TRADES }, (_, i) => {
    const [sellerAgentId, buyerAgentId] = [1 + draw(AGENTS), 1 + draw(AGENTS)];
    const nanoUsd = BigInt(1 + draw(draw(8) === 0 ? 3_000 : 300));
    const has = free.get(sellerAgentId) ?? 0n;
    if (nanoUsd > has) refused.add(`t${i}`);
    else {
      free.set(sellerAgentId, has - nanoUsd);
      free.set(buyerAgentId, (free.get(buyerAgentId) ?? 0n) + nanoUsd);
    }
    const fields = { market, seq: i + 1, tradeId: `t${i}`, sellerAgentId, buyerAgentId, nanoUsd };
    return { ...tradeRecord(fields), at };
  });

  const configFile = join(dataDir, 'faregate.yaml');
  await writeFile(join(dataDir, 'token'), `${TOKEN}\n`);
  await writeFile(configFile, `admin: { tokenFile: ${join(dataDir, 'token')} }\n`);
  const output = join(dataDir, 'gateway.log');
  const start = async () =>
    startNodeProcess({
      command: ['api/main.ts'],
      internalPort: await freePort(),
      output,
      env: { FAREGATE_CONFIG: configFile, FAREGATE_DATA: dataDir, PORT: String(await freePort()) },
      ready: true,
    });
  const ask = async <T>({ internalUrl }: NodeProcess, path: string, body?: object): Promise<T> => {
    const res = await fetch(`${internalUrl}/admin${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!res.ok) throw new Error(`${path}: ${res.status} ${await res.text()}`);
    return (await res.json()) as T;
  };
  const inTransit = async (gateway: NodeProcess) =>
    (await ask<{ totals: { in_transit_usd: string } }>(gateway, '/ledger/audit')).totals.in_transit_usd;

  const told = new Map<string, string>();
  let next = 0;
  /**
   * Until all are told, or nobody answers.
   *
   * @param portionTold Called with the time that the portion took.
   */
  const feed = async (gateway: NodeProcess, portionTold?: (ms: number) => void) => {
    while (next < trades.length) {
      const records = trades.slice(next, next + PORTION);
      const beganAtMs = systemClock.monotonicMs();
      const { outcomes } = await ask<Fed>(gateway, `/feeds/${TRADES_TOPIC}`, { records });
      for (const [i, { outcome, reason = '' }] of outcomes.entries()) {
        if (outcome === 'try_again') break;
        told.set(`t${next + i}`, outcome === 'rejected' ? reason : outcome);
      }
      next += outcomes.filter(({ outcome }) => outcome !== 'try_again').length;
      portionTold?.(systemClock.monotonicMs() - beganAtMs);
    }
  };
  const wasCutOff = () =>
    existsSync(output) && readFileSync(output, 'utf8').includes('trades cut off by a crash were ended');
  for (let kill = 0; kill < KILLS || (kill < KILLS_MAX && !wasCutOff()); kill++) {
    const gateway = await start();
    expect(await inTransit(gateway)).toBe('0');
    // Some that were told before come again.
    next = Math.max(0, next - draw(50));
    // In the middle of a portion, as long as those take on this machine.
    const { promise: firstTold, resolve } = Promise.withResolvers<number>();
    const feeding = feed(gateway, resolve).catch(() => undefined);
    const portionMs = await Promise.race([firstTold, feeding.then(() => 0)]);
    await wait(systemClock, draw(Math.max(1, Math.ceil(portionMs))));
    await gateway.stop('SIGKILL');
    await feeding;
  }
  const last = await start();
  expect(await inTransit(last)).toBe('0');
  await feed(last);
  expect(await ask(last, '/ledger/audit')).toMatchObject({
    ok: true,
    totals: { in_transit_usd: '0' },
  });
  await last.stop();
  expect(wasCutOff()).toBe(true);
  for (let i = 0; i < TRADES; i++) {
    const id = `t${i}`;
    expect([id, told.get(id)]).toEqual([id, refused.has(id) ? 'seller_lacks_credit' : 'done']);
  }
  const after = await openLedger();
  for (const [agentId, nanoUsd] of free) {
    const agent = await after.readAgent(agentId);
    if (agent === null || agent === 'unavailable') throw new Error('an agent cannot be read');
    expect([agentId, agent.lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n)]).toEqual([agentId, nanoUsd]);
  }
  await after.close();
});
