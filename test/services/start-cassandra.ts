import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { classArchiveFlag, jvmFlags } from './class-archive.ts';
import { fillTemplate } from './fill-template.ts';
import { freePort } from './free-port.ts';
import { classPath } from './jars.ts';
import type { Service } from './service.ts';
import { startProcess } from './start-process.ts';

/** One node, whose commit log is synced before a write is acknowledged. */
export async function startCassandra(options: { dir: string; detached?: boolean }): Promise<Service> {
  const { dir, detached = false } = options;
  const jars = await classPath('cassandra');
  const archive = await classArchiveFlag('cassandra', (flag, first) => start(first, false, jars, flag));
  return start(dir, detached, jars, archive);
}

async function start(dir: string, detached: boolean, jars: string, archive: string): Promise<Service> {
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const yaml = join(dir, 'cassandra.yaml');
  fillTemplate('cassandra/cassandra.yaml', yaml, { PORT: port, STORAGE_PORT: await freePort(), DATA: dir });
  const settings = join(import.meta.dirname, 'cassandra');
  return startProcess({
    name: 'cassandra',
    dir,
    port,
    detached,
    command: 'java',
    args: [
      ...['-Xms96m', '-Xmx384m', '-XX:MaxDirectMemorySize=96m', ...jvmFlags, archive],
      ...[`@${join(settings, 'jvm.args')}`, `-Dcassandra.jmx.local.port=${await freePort()}`],
      ...[`-Dcassandra.storagedir=${dir}`, `-Dcassandra.config=file://${yaml}`],
      ...[`-Dlogback.configurationFile=${join(settings, 'logback.xml')}`, '-cp', jars],
      'org.apache.cassandra.service.CassandraDaemon',
    ],
  });
}
