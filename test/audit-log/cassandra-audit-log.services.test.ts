import { expect, test } from 'vitest';
import { createCassandraAuditLog } from '#core/audit-log/cassandra-audit-log.ts';
import { SECOND_MS } from '#core/clock.ts';
import { AUDIT_KEPT_MS } from '#core/limits.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { describeWith } from '../support/with-services.ts';
import { testAuditLog } from './audit-log-contract.ts';

describeWith(['cassandra'], 'who changed what, in Cassandra', () => {
  const node = useCassandra();

  testAuditLog(async (clock) => {
    await node.client.execute('TRUNCATE audit_lines', [], { prepare: false });
    return {
      log: createCassandraAuditLog(node.client, clock),
      again: () => createCassandraAuditLog(node.client, clock),
      async [Symbol.asyncDispose]() {},
    };
  });

  test('a line goes by itself when it is no longer kept', async () => {
    const clock = createFakeClock();
    await createCassandraAuditLog(node.client, clock).write({
      ...{ id: 4_096, atMs: clock.now(), operator: 'ada', address: '127.0.0.1', action: 'agents.create' },
      ...{ subject: {}, result: 'started' },
    });
    const { rows } = await node.client.execute('SELECT TTL(result) AS ttl FROM audit_lines');
    expect(rows.some((row) => Number(row.get('ttl')) > AUDIT_KEPT_MS / SECOND_MS - 3_600)).toBe(true);
  });

  // The last: it ends the node.
  test('while no node answers, nothing is written and nothing is said to be there', async () => {
    const log = createCassandraAuditLog(node.client, createFakeClock());
    await node.service.stop('SIGKILL');
    const line = {
      ...{ id: 8_192, atMs: 0, operator: 'ada', address: '127.0.0.1', action: 'agents.create' },
      ...{ subject: {}, result: 'started' },
    };
    await expect(log.write(line)).rejects.toThrow();
    expect(await log.list({ limit: 1 })).toBe('unavailable');
  });
});
