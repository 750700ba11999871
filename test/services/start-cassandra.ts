import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { classArchiveFlag, jvmFlags } from './class-archive.ts';
import { fillTemplate } from './fill-template.ts';
import { freePort } from './free-port.ts';
import { classPath } from './jars.ts';
import type { Service } from './service.ts';
import { startProcess } from './start-process.ts';

export interface CassandraOptions {
  dir: string;
  detached?: boolean;
  /** Asks for a name and a password: `cassandra` and `cassandra`, until they are changed. */
  asksPassword?: boolean;
  /** Further lines of its configuration. */
  settings?: string;
  /** Compiled and collected as operators run it, for figures; else as it starts soonest and takes least. */
  asOperated?: boolean;
}

/** One node, whose commit log is synced before a write is acknowledged. */
export async function startCassandra(options: CassandraOptions): Promise<Service> {
  const jars = await classPath('cassandra');
  const archive = await classArchiveFlag('cassandra', (flag, dir) => start({ dir }, jars, flag));
  return start(options, jars, archive);
}

async function start(options: CassandraOptions, jars: string, archive: string): Promise<Service> {
  const { dir, detached = false, asksPassword = false, settings: more, asOperated = false } = options;
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const yaml = join(dir, 'cassandra.yaml');
  fillTemplate('cassandra/cassandra.yaml', yaml, {
    ...{ PORT: port, STORAGE_PORT: await freePort(), DATA: dir },
    AUTHENTICATOR: asksPassword ? 'PasswordAuthenticator' : 'AllowAllAuthenticator',
  });
  if (more !== undefined) appendFileSync(yaml, more);
  const settings = join(import.meta.dirname, 'cassandra');
  return startProcess({
    name: 'cassandra',
    dir,
    port,
    detached,
    command: 'java',
    args: [
      ...(asOperated
        ? OPERATED
        : ['-Xms96m', '-Xmx384m', '-XX:MaxDirectMemorySize=96m', ...jvmFlags, archive]),
      ...[`@${join(settings, 'jvm.args')}`, `-Dcassandra.jmx.local.port=${await freePort()}`],
      // Its first user is else made ten seconds later.
      '-Dcassandra.superuser_setup_delay_ms=0',
      ...[`-Dcassandra.storagedir=${dir}`, `-Dcassandra.config=file://${yaml}`],
      ...[`-Dlogback.configurationFile=${join(settings, 'logback.xml')}`, '-cp', jars],
      'org.apache.cassandra.service.CassandraDaemon',
    ],
  });
}

const OPERATED = ['-Xms1g', '-Xmx1g', '-XX:+UseG1GC', '-Xlog:disable', '-Xlog:all=error:stderr'];
