import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS, isoTime, SECOND_MS, systemClock, wait } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import { untilNextMinuteMs } from '#core/rates/address-weights.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import { freePort } from '../services/free-port.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { PATIENT_API } from '../support/patience.ts';
import { describeWith } from '../support/with-services.ts';
import { listingOf } from './market-world.ts';

const PROCESSES = 3;
/** As long as a round of one address takes, and more. */
const ROUND_MS = 25 * SECOND_MS;

describeWith(['redis', 'kafka', 'cassandra'], 'the weight of an address over three processes', () => {
  const market = `weights-${isoTime(systemClock.now() + 3 * DAY_MS).slice(0, 10)}`;
  const ends = new AsyncDisposableStack();
  const processes: { process: NodeProcess; baseUrl: string }[] = [];

  beforeAll(async () => {
    const folder = ends.use(await testDataDir());
    const stores = await startClusterStores(folder.path, { migrated: true });
    ends.defer(stores.stop);
    const configFile = join(folder.path, 'faregate.yaml');
    await writeFile(
      configFile,
      `${stores.yaml}providers: [{ id: sim, kind: simulator, baseUrl: "http://127.0.0.1:9" }]
server: { trustedProxies: [127.0.0.1] }
`,
    );
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    await migrateStores(storage, systemClock);
    const cassandra = connectCassandra(cassandraAt(stores.cassandra, storage.cassandra.keyspace));
    ends.defer(() => cassandra.shutdown());
    await createCassandraMarketStore(cassandra).putListing(
      listingOf(market, { opensAt: systemClock.now() - DAY_MS }),
    );
    for (let n = 0; n < PROCESSES; n++) {
      const [port, internalPort] = [await freePort(), await freePort()];
      const process = await startNodeProcess({
        command: [PATIENT_API],
        internalPort,
        output: join(folder.path, `api-${n}.log`),
        env: {
          FAREGATE_CONFIG: configFile,
          FAREGATE_DATA: join(folder.path, `api-${n}`),
          PORT: String(port),
        },
        // No ledger decides here: nobody publishes its events.
        ready: false,
      });
      ends.defer(async () => void (await process.stop('SIGKILL')));
      processes.push({ process, baseUrl: `http://127.0.0.1:${port}/v1` });
    }
    for (const { baseUrl } of processes) {
      await until(
        async () => (await fetch(`${baseUrl}/videos/models`).catch(() => null))?.status === 200,
        60_000,
      );
    }
  });
  afterAll(() => ends.disposeAsync());

  const paths = [
    [`/dex/markets/${market}/candles`, 2],
    [`/dex/markets/${market}/candles?interval=1m&limit=1`, 2],
    ['/dex/markets', 2],
    ['/dex/markets/none/book', 1],
    // Of a market whose book nobody keeps.
    [`/dex/markets/${market}/book`, 1],
  ] as const;

  interface Refused {
    askedAtMs: number;
    answer: Response;
    toldAtMs: number;
  }

  /** Each caller asks one process after the other; what passed, in weight, and the answers that did not. */
  async function useUp(callers: number, headers: Record<string, string>) {
    const refused: Refused[] = [];
    let passed = 0;
    await Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let n = caller; ; n++) {
          const [path, weight] = paths[n % paths.length] ?? paths[0];
          const askedAtMs = systemClock.now();
          const answer = await fetch((processes[n % PROCESSES]?.baseUrl ?? '') + path, { headers });
          await answer.arrayBuffer();
          if (answer.status === 429) {
            refused.push({ askedAtMs, answer, toldAtMs: systemClock.now() });
            // The last one may be smaller than what another asked for.
            if (weight === 1) return;
          } else passed += weight;
        }
      }),
    );
    return { passed, refused };
  }

  test.each([1, 16])(
    'is exactly 1,200 in a minute, asked for by %d at once; then each of them says when to come back',
    async (callers) => {
      const headers = { 'x-forwarded-for': `203.0.113.${callers}` };
      const leftMs = untilNextMinuteMs(systemClock.now());
      if (leftMs < ROUND_MS) await wait(systemClock, leftMs);
      const { passed, refused } = await useUp(callers, headers);
      expect(passed).toBe(1_200);
      expect(refused.length).toBeGreaterThan(0);
      for (const { askedAtMs, answer, toldAtMs } of refused) {
        const waitMs = Number(answer.headers.get('retry-after-ms'));
        expect(Number(answer.headers.get('retry-after'))).toBe(Math.ceil(waitMs / SECOND_MS));
        expect(waitMs).toBeLessThanOrEqual(untilNextMinuteMs(askedAtMs));
        expect(waitMs).toBeGreaterThanOrEqual(untilNextMinuteMs(toldAtMs));
      }
      for (const { baseUrl } of processes) {
        const answer = await fetch(`${baseUrl}/dex/markets/none/book`, { headers });
        expect([answer.status, answer.headers.get('x-used-weight-1m')]).toEqual([429, '1200']);
        expect(await answer.json()).toMatchObject({ error: { code: 'rate_limited' } });
      }
    },
  );
});
