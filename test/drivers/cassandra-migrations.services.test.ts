import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { migrateCassandra, SchemaTooNewError } from '#core/drivers/cassandra-migrations.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { testDataDir } from '../support/data-dir.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['cassandra'], 'migrations', () => {
  const node = useCassandra();
  const options = (keyspace: string, folder: string) => ({
    ...cassandraAt(node.service, keyspace),
    replicas: { datacenter1: 1 },
    clock: systemClock,
    folder,
  });
  const STEPS = {
    '0001-first.cql':
      'CREATE TABLE IF NOT EXISTS a (id int PRIMARY KEY);\nCREATE TABLE IF NOT EXISTS b (id int PRIMARY KEY);',
    '0002-second.cql': '-- a comment; with a semicolon\nALTER TABLE a ADD IF NOT EXISTS c text;',
  };

  async function stepsIn(path: string, steps: Record<string, string>): Promise<string> {
    for (const [file, text] of Object.entries(steps)) writeFileSync(join(path, file), text);
    return path;
  }

  async function columns(keyspace: string): Promise<string[]> {
    const { rows } = await node.client.execute(
      'SELECT table_name, column_name FROM system_schema.columns WHERE keyspace_name = ?',
      [keyspace],
    );
    return rows
      .map((row) => `${row.get('table_name')}.${row.get('column_name')}`)
      .filter((name) => /^[ab]\./.test(name));
  }

  test('that three processes begin at once end in one schema, each step applied by one of them', async () => {
    await using folder = await testDataDir();
    const all = options('at_once', await stepsIn(folder.path, STEPS));
    const applied = await Promise.all([1, 2, 3].map(() => migrateCassandra(all)));
    expect(applied.flat().sort()).toEqual([1, 2]);
    expect(await columns('at_once')).toEqual(['a.c', 'a.id', 'b.id']);
    expect(await migrateCassandra(all)).toEqual([]);
  });

  test('go on where a process died in the middle of a step', async () => {
    await using folder = await testDataDir();
    const broken = {
      ...STEPS,
      '0002-second.cql': `${STEPS['0002-second.cql']}\nALTER TABLE nowhere ADD d text;`,
    };
    const all = options('half_done', await stepsIn(folder.path, broken));
    await expect(migrateCassandra(all)).rejects.toThrow('nowhere');
    expect(await columns('half_done')).toContain('a.c');
    await stepsIn(folder.path, STEPS);
    expect(await migrateCassandra(all)).toEqual([2]);
    expect(await columns('half_done')).toEqual(['a.c', 'a.id', 'b.id']);
  });

  test('wait for one that holds the lock, and take over from one that died with it', async () => {
    await using folder = await testDataDir();
    const all = options(
      'dead_holder',
      await stepsIn(folder.path, { '0001-first.cql': STEPS['0001-first.cql'] }),
    );
    await migrateCassandra(all);
    const client = connectCassandra(all);
    await client.execute(
      "INSERT INTO schema_lock (name, holder) VALUES ('faregate', 'dead') IF NOT EXISTS USING TTL 2",
    );
    await stepsIn(folder.path, STEPS);
    const began = performance.now();
    expect(await migrateCassandra(all)).toEqual([2]);
    expect(performance.now() - began).toBeGreaterThan(1_000);
    await client.shutdown();
  });

  test('refuse a schema that a newer release made, in a sentence, and leave it alone', async () => {
    await using folder = await testDataDir();
    const all = options('too_new', await stepsIn(folder.path, STEPS));
    await migrateCassandra(all);
    await using older = await testDataDir();
    const first = { '0001-first.cql': STEPS['0001-first.cql'] };
    const refused = migrateCassandra(options('too_new', await stepsIn(older.path, first)));
    await expect(refused).rejects.toThrow(
      'the keyspace too_new has schema version 2, and this release knows 1: run the release that made it, or a newer one',
    );
    await expect(refused).rejects.toBeInstanceOf(SchemaTooNewError);
    expect(await migrateCassandra(all)).toEqual([]);
  });
});
