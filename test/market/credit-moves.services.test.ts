import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS, isoTime, SECOND_MS, startOfDayMs, systemClock, wait } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { parseFeedRecord } from '#core/events/feed-record.ts';
import { deadLetterTopic } from '#core/events/kafka-dead-letters.ts';
import { REJECTED_TRADES_TOPIC, TRADES_TOPIC } from '#core/events/market-trade.ts';
import { type RejectedTrade, rejectedTrade } from '#core/events/rejected-trade.ts';
import type { ClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { formatUsd } from '#core/money.ts';
import { StartWaits } from '#core/start-waits.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import { auditLedger } from '../../api/admin/audit-ledger.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import { toKafkaOptions } from '../../api/config/store-options.ts';
import type { Role } from '../../api/start/workers/roles.ts';
import { reachLedger } from '../../api/stores/reach.ts';
import { createDraw } from '../ledger/history/random.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { follow, sendTo, untilLed } from '../support/feed-broker.ts';
import { until } from '../support/gateway.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { describeWith } from '../support/with-services.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { tradeRecord } from './trades.ts';

const AGENTS = 12;
const GRANTED = 1_000n;
const TRADES = 1_500;
const MARKET_DAYS = [3, 5];
/** A dead process is missed after ten seconds, and its shards after some more. */
const GRACE_MS = 120_000;

describeWith(['redis', 'kafka', 'cassandra'], 'trades on the log of an exchange', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: ClusterStores;
  let configFile: string;
  let kafka: Kafka;
  let cluster: ClusterLedger;
  const processes: NodeProcess[] = [];
  const rejected = new Map<string, RejectedTrade['reason']>();
  const deadLetters: string[] = [];
  const todayMs = startOfDayMs(systemClock.now());
  const marketOf = (days: number) => `credit-${isoTime(todayMs + days * DAY_MS).slice(0, 10)}`;

  const startWorker = async (...roles: Role[]): Promise<NodeProcess> => {
    const worker = await startWorkerProcess({ configFile, folder: folder.path, roles });
    processes.push(worker);
    return worker;
  };

  beforeAll(async () => {
    folder = await testDataDir();
    stores = await startClusterStores(folder.path, { migrated: true });
    configFile = join(folder.path, 'faregate.yaml');
    await writeFile(configFile, stores.yaml);
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    await migrateStores(storage, systemClock);
    kafka = connectKafka(toKafkaOptions(storage.kafka, 'exchange'));
    await untilLed(kafka);
    const log = { info() {}, warn() {}, error() {} };
    const waits = new StartWaits(systemClock, log);
    cluster = await reachLedger(storage, { waits, clock: trustedClock(systemClock), log });
  });
  afterAll(async () => {
    await cluster?.close();
    for (const each of processes) await each.stop('SIGKILL');
    await stores?.stop();
    await folder[Symbol.asyncDispose]();
  });

  const send = (records: readonly object[]): Promise<void> =>
    sendTo(
      kafka,
      TRADES_TOPIC,
      records.map((record) => ({
        key: 'market' in record ? String(record.market) : 'none',
        value: JSON.stringify(record),
      })),
    );

  /** What the exchange reads. */
  const listen = (): Promise<() => Promise<void>> =>
    follow(
      kafka,
      { groupId: 'exchange', topics: [REJECTED_TRADES_TOPIC, deadLetterTopic(TRADES_TOPIC)] },
      ({ topic, message }) => {
        if (topic !== REJECTED_TRADES_TOPIC) return void deadLetters.push(String(message.value));
        const parsed = parseFeedRecord(rejectedTrade, message.value ?? Buffer.alloc(0));
        if (!parsed.ok) throw new Error(parsed.reason);
        const { tradeId, reason, market } = parsed.record;
        expect(String(message.key)).toBe(market);
        expect(rejected.get(tradeId) ?? reason).toBe(reason);
        rejected.set(tradeId, reason);
      },
    );

  /** Each market's trades one after the other: what every agent has then, and what is refused. */
  function drawTrades(seed: number) {
    const draw = createDraw(seed);
    const free = new Map<string, bigint>();
    const lotOf = (agentId: number, days: number) => `${agentId} ${days}`;
    for (let agentId = 1; agentId <= AGENTS; agentId++) {
      for (const days of MARKET_DAYS) free.set(lotOf(agentId, days), GRANTED);
    }
    const refused = new Set<string>();
    let movedNanoUsd = 0n;
    const records = Array.from({ length: TRADES }, (_, i) => {
      const days = MARKET_DAYS[i % 2] ?? 0;
      const [sellerAgentId, buyerAgentId] = [1 + draw(AGENTS), 1 + draw(AGENTS)];
      const nanoUsd = BigInt(1 + draw(draw(8) === 0 ? 3_000 : 300));
      const tradeId = `t${i}`;
      const [seller, buyer] = [lotOf(sellerAgentId, days), lotOf(buyerAgentId, days)];
      if (nanoUsd > (free.get(seller) ?? 0n)) refused.add(tradeId);
      else {
        free.set(seller, (free.get(seller) ?? 0n) - nanoUsd);
        free.set(buyer, (free.get(buyer) ?? 0n) + nanoUsd);
        movedNanoUsd += nanoUsd;
      }
      const market = marketOf(days);
      const seq = 1 + Math.floor(i / 2);
      const trade = tradeRecord({ market, seq, tradeId, sellerAgentId, buyerAgentId, nanoUsd });
      return { ...trade, at: isoTime(systemClock.now()) };
    });
    return { records, free, refused, movedNanoUsd };
  }

  async function totals() {
    const audit = await auditLedger(cluster.ledger, systemClock.now());
    return audit === 'unavailable' ? null : audit;
  }

  test('move credit exactly once while workers of both kinds are killed, and what is refused is told', async () => {
    const seed = systemClock.now() % 1_000_000;
    console.log(`seed ${seed}`);
    const { records, free, refused, movedNanoUsd } = drawTrades(seed);
    expect(refused.size).toBeGreaterThan(20);
    const two = (role: Role) => Promise.all([startWorker(role), startWorker(role)]);
    const workers = { settlement: await two('settlement'), market: await two('market') };
    await until(async () => {
      const published = await Promise.all(
        workers.settlement.map((each) => each.metric('faregate_shards_published')),
      );
      return published.reduce((sum, each) => sum + each, 0) === SHARDS;
    }, GRACE_MS);
    for (let agentId = 1; agentId <= AGENTS; agentId++) {
      for (const days of MARKET_DAYS) {
        const expiresAtMs = todayMs + days * DAY_MS;
        const grant = { type: 'grant', agentId, grantId: `g${days}`, expiresAtMs, nanoUsd: GRANTED } as const;
        expect(await executeDurably(cluster.ledger, grant)).toMatchObject({ ok: true });
      }
    }
    const stopListening = await listen();
    const draw = createDraw(seed);
    /** Who dies, one soon after the other, before anybody takes their places. */
    const rounds: ('settlement' | 'market')[][] = [
      ['market', 'settlement'],
      ['settlement', 'market'],
      ['market', 'settlement'],
    ];
    const portion = TRADES / rounds.flat().length;
    let sent = 0;
    for (const round of rounds) {
      for (const role of round) {
        await send(records.slice(sent, sent + portion));
        if (sent === 2 * portion) await send([{ v: 1, type: 'traded', market: marketOf(3) }]);
        // Some of what was sent before comes again.
        await send(records.slice(Math.max(0, sent - 20), sent));
        sent += portion;
        await wait(systemClock, SECOND_MS + draw(1_000));
        const dying = workers[role].splice(draw(workers[role].length), 1)[0];
        await dying?.stop('SIGKILL');
      }
      // Each group misses its dead one for ten seconds: both do at the same time.
      await Promise.all(round.map(async (role) => workers[role].push(await startWorker(role))));
    }
    await until(async () => {
      const audit = await totals();
      return audit?.totals.moved_in_usd === formatUsd(movedNanoUsd) && rejected.size === refused.size;
    }, GRACE_MS);
    expect(await totals()).toMatchObject({
      ok: true,
      totals: {
        moved_in_usd: formatUsd(movedNanoUsd),
        moved_out_usd: formatUsd(movedNanoUsd),
        in_transit_usd: '0',
        free_usd: formatUsd(GRANTED * BigInt(AGENTS * MARKET_DAYS.length)),
      },
    });
    for (let agentId = 1; agentId <= AGENTS; agentId++) {
      const agent = await cluster.ledger.readAgent(agentId);
      if (agent === null || agent === 'unavailable') throw new Error('an agent cannot be read');
      for (const days of MARKET_DAYS) {
        const lot = agent.lots.find(({ expiresAtMs }) => expiresAtMs === todayMs + days * DAY_MS);
        expect([agentId, days, lot?.freeNanoUsd ?? 0n]).toEqual([
          agentId,
          days,
          free.get(`${agentId} ${days}`),
        ]);
      }
    }
    expect([...rejected.keys()].sort()).toEqual([...refused].sort());
    expect(new Set(rejected.values())).toEqual(new Set(['seller_lacks_credit']));
    await until(() => deadLetters.length > 0, GRACE_MS);
    expect(new Set(deadLetters)).toEqual(
      new Set([JSON.stringify({ v: 1, type: 'traded', market: marketOf(3) })]),
    );
    // What came twice is on its way once more, for a moment: the worker asks the ledger, which knows it.
    for (const each of workers.market)
      await until(async () => (await each.metric('faregate_credit_in_transit_usd')) === 0, GRACE_MS);
    await stopListening();
  });
});
