import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'cassandra-driver';
import { z } from 'zod';
import { type Clock, MINUTE_MS, SECOND_MS, wait } from '../clock.ts';
import { type CassandraOptions, connectCassandra } from './cassandra.ts';

export interface MigrateOptions extends CassandraOptions {
  keyspace: string;
  /** How many replicas each data centre keeps; only for a keyspace that is still missing. */
  replicas: Readonly<Record<string, number>>;
  clock: Clock;
  /** Of the steps; the release's own unless it says otherwise. */
  folder?: string;
}

/** The schema was made by a newer release, whose rows this one might misread. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError';

  constructor(keyspace: string, found: number, known: number) {
    super(
      `the keyspace ${keyspace} has schema version ${found}, and this release knows ${known}: ` +
        'run the release that made it, or a newer one',
    );
  }
}

/**
 * Brings a keyspace to this release's schema, and makes it where it is missing. Any number of processes may do so at
 * once: one at a time holds a lock, and a step that a dead process left half done is done again, because every
 * statement of a step may be repeated. Resolves with the versions that it applied.
 */
export async function migrateCassandra(options: MigrateOptions): Promise<number[]> {
  const { keyspace, replicas, clock, folder = join(import.meta.dirname, 'cql') } = options;
  const steps = readSteps(folder);
  checkName(keyspace);
  const { keyspace: _, ...anyKeyspace } = options;
  const client = connectCassandra(anyKeyspace);
  try {
    await makeKeyspace(client, keyspace, replicas);
  } finally {
    await client.shutdown();
  }
  const inKeyspace = await connectToKeyspace(options);
  const lock = new MigrationLock(inKeyspace, clock);
  try {
    await lock.take();
    return await applySteps(inKeyspace, lock, keyspace, steps, clock);
  } finally {
    await lock.release();
    await inKeyspace.shutdown();
  }
}

const KEYSPACE_TRIES = 100;
const KEYSPACE_WAIT_MS = SECOND_MS / 10;

/** A keyspace that another process has just made is listed before it can be used. */
async function connectToKeyspace(options: MigrateOptions): Promise<Client> {
  for (let triesLeft = KEYSPACE_TRIES; ; triesLeft--) {
    const client = connectCassandra(options);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.shutdown();
      const words = error instanceof Error ? error.message.toLowerCase() : '';
      const isMissing = words.includes('keyspace ') && words.includes(' does not exist');
      if (!isMissing || triesLeft === 1) throw error;
      await wait(options.clock, KEYSPACE_WAIT_MS);
    }
  }
}

interface Step {
  version: number;
  file: string;
  statements: string[];
}

/** `0001-history.cql` is version 1; there is no gap between two. */
export function readSteps(folder: string): Step[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.cql'))
    .sort()
    .map((file, index) => {
      const version = Number(/^(\d{4})-/.exec(file)?.[1]);
      if (version !== index + 1) throw new Error(`${file}: expected the step of version ${index + 1}`);
      const text = readFileSync(join(folder, file), 'utf8').replace(/^--.*$/gm, '');
      const statements = text.split(';').map((statement) => statement.trim());
      return { version, file, statements: statements.filter((statement) => statement !== '') };
    });
}

/** They stand in statements as they are. */
function checkName(name: string): void {
  if (!/^[a-z]\w{0,47}$/.test(name)) throw new Error(`${name} cannot be the name of a keyspace`);
}

async function makeKeyspace(
  client: Client,
  keyspace: string,
  replicas: MigrateOptions['replicas'],
): Promise<void> {
  const known = await client.execute(
    'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?',
    [keyspace],
  );
  if (known.rowLength > 0) return;
  const byDataCentre = Object.entries(replicas).map(([name, count]) => {
    if (!/^[\w-]+$/.test(name) || !Number.isInteger(count)) throw new Error(`${name}: ${count} replicas`);
    return `, '${name}': ${count}`;
  });
  await define(
    client,
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace}
      WITH replication = {'class': 'NetworkTopologyStrategy'${byDataCentre.join('')}}`,
  );
}

async function applySteps(
  client: Client,
  lock: MigrationLock,
  keyspace: string,
  steps: readonly Step[],
  clock: Clock,
): Promise<number[]> {
  await lock.keep();
  await define(client, VERSIONS);
  const found = await latestVersion(client);
  const known = steps.length;
  if (found > known) throw new SchemaTooNewError(keyspace, found, known);
  const applied: number[] = [];
  for (const { version, file, statements } of steps.slice(found)) {
    for (const statement of statements) {
      await lock.keep();
      await define(client, statement);
    }
    await lock.keep();
    await client.execute(
      "INSERT INTO schema_versions (name, version, file, applied_at_ms) VALUES ('faregate', ?, ?, ?)",
      [version, file, BigInt(clock.now())],
    );
    applied.push(version);
  }
  return applied;
}

/** The last step that was applied; 0: none was. */
export async function latestVersion(client: Client): Promise<number> {
  const { rows } = await client.execute("SELECT version FROM schema_versions WHERE name = 'faregate'");
  return rows.reduce((latest, row) => Math.max(latest, z.int().parse(row.get('version'))), 0);
}

const VERSIONS = `
  CREATE TABLE IF NOT EXISTS schema_versions (
    name text, version int, file text, applied_at_ms bigint, PRIMARY KEY ((name), version)
  )`;

/** Schema changes wait for all nodes to agree. */
const DEFINE_MS = 30 * SECOND_MS;
/** The driver's types leave it out. */
const schemaInfo = z.object({ isSchemaInAgreement: z.boolean() });

async function define(client: Client, statement: string): Promise<void> {
  const { info } = await client.execute(statement, [], { prepare: false, readTimeout: DEFINE_MS });
  if (!schemaInfo.parse(info).isSchemaInAgreement)
    throw new Error('the nodes do not agree on the schema: try again later');
}

/**
 * With an id that only its name decides: two nodes that are told to make it at the same moment make the same table,
 * where they would else make two of one name.
 */
function lockTable(keyspace: string): string {
  const hash = createHash('sha256').update(`${keyspace}.schema_lock`).digest('hex');
  const id = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  return `CREATE TABLE IF NOT EXISTS schema_lock (name text PRIMARY KEY, holder text) WITH ID = '${id}'`;
}

/** Of a holder that died; above what one statement may take. */
const LOCK_S = 60;
const LOCK_POLL_MS = 200;
const LOCK_WAIT_MS = 10 * MINUTE_MS;

class MigrationLock {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #holder = randomBytes(8).toString('hex');

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async take(): Promise<void> {
    await define(this.#client, lockTable(this.#client.keyspace));
    const untilMs = this.#clock.monotonicMs() + LOCK_WAIT_MS;
    while (
      !(await this.#swap(
        "INSERT INTO schema_lock (name, holder) VALUES ('faregate', ?) IF NOT EXISTS USING TTL ?",
        [this.#holder, LOCK_S],
      ))
    ) {
      if (this.#clock.monotonicMs() > untilMs)
        throw new Error('another process has been migrating for too long');
      await wait(this.#clock, LOCK_POLL_MS);
    }
  }

  /** Before each statement: who was paused for so long that somebody else took over stops here. */
  async keep(): Promise<void> {
    const kept = await this.#swap(
      "UPDATE schema_lock USING TTL ? SET holder = ? WHERE name = 'faregate' IF holder = ?",
      [LOCK_S, this.#holder, this.#holder],
    );
    if (!kept) throw new Error('another process has taken over: run this again');
  }

  /** The lock ends by itself where this fails. */
  async release(): Promise<void> {
    await this.#swap("DELETE FROM schema_lock WHERE name = 'faregate' IF holder = ?", [this.#holder]).catch(
      () => false,
    );
  }

  /** True also where an earlier try had arrived whose answer was lost. */
  async #swap(statement: string, values: (string | number)[]): Promise<boolean> {
    const result = await this.#client.execute(statement, values, { isIdempotent: false });
    return result.wasApplied() || result.first()?.get('holder') === this.#holder;
  }
}
