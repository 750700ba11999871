import { afterEach, beforeEach } from 'vitest';
import { decodeLedgerEvent } from '#core/events/ledger-event.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { connectTo } from '../../support/connect-to.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { PATIENT_MS } from '../../support/patience.ts';
import { openEmptyShard, scriptsAt } from '../../support/redis-ledger.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';
import { START_MS } from '../case.ts';
import { describeRaces, type RacedLedger } from '../races.ts';

const PROCESSES = 3;

describeWith(['redis'], 'Redis', () => {
  const redis = useRedis(['--appendfsync', 'no'], PATIENT_MS);
  const shard = new ShardKeys(0);
  const ends: (() => unknown)[] = [];
  let raced: RacedLedger;

  /** Processes with a connection each, on one shard, whose outbox the test takes to what would be the log. */
  beforeEach(async () => {
    const { client } = redis;
    await client.flushall();
    const clock = createFakeClock(START_MS);
    const scripts = scriptsAt(client, () => clock.now());
    await openEmptyShard(scripts, shard);
    const open = async () => {
      const connection = await connectTo(redis.service, PATIENT_MS);
      const ledger = createRedisLedger({
        scripts: scriptsAt(connection, () => clock.now()),
        shards: 1,
        clock,
        log: { info() {}, warn() {}, error() {} },
        acknowledged: async () => 'durable',
      });
      ends.push(() => ledger.close().then(() => connection.disconnect()));
      return ledger;
    };
    const newEvents = async () => {
      const outbox = await client.xrange(shard.outbox, '-', '+');
      const last = outbox.at(-1)?.[0];
      if (last !== undefined) {
        await scripts.run('ack', [shard.meta, shard.outbox], [...last.split('-'), '0', 0, 1]);
      }
      return outbox.map(([, [, text = '']]) => decodeLedgerEvent(JSON.parse(text)));
    };
    const ledgers = await Promise.all(Array.from({ length: PROCESSES }, open));
    raced = { ledgers, clock, newEvents };
  });

  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  describeRaces('decided by Redis for several processes', () => raced);
});
