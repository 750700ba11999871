import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { classArchiveFlag, jvmFlags } from './class-archive.ts';
import { fillTemplate } from './fill-template.ts';
import { freePort } from './free-port.ts';
import { classPath } from './jars.ts';
import { runCommand } from './run-command.ts';
import type { Service } from './service.ts';
import { inServicesCache } from './services-cache.ts';
import { startProcess } from './start-process.ts';

const CLUSTER_ID = 'ZmFyZWdhdGUtdGVzdHMtMQ';
const LOGGING = `-Dlog4j2.configurationFile=${join(import.meta.dirname, 'kafka/log4j2.properties')}`;

export interface KafkaOptions {
  dir: string;
  detached?: boolean;
  /** Lines for its properties, the last of a name counts. */
  properties?: (ports: { port: number; controllerPort: number }) => string;
  /** Further arguments of its formatting, such as users. */
  format?: readonly string[];
  env?: Record<string, string>;
}

/** One broker that is its own controller (KRaft), replication factor 1. */
export async function startKafka(options: KafkaOptions): Promise<Service> {
  const jars = await classPath('kafka');
  const archive = await classArchiveFlag('kafka', (flag, dir) => start({ dir }, jars, flag));
  return start(options, jars, archive);
}

async function start(options: KafkaOptions, jars: string, archive: string): Promise<Service> {
  const { dir, detached = false, properties: more, format: formatArgs, env = {} } = options;
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const controllerPort = await freePort();
  const data = join(dir, 'log');
  const properties = join(dir, 'server.properties');
  fillTemplate('kafka/server.properties', properties, {
    PORT: port,
    CONTROLLER_PORT: controllerPort,
    DATA: data,
  });
  if (more !== undefined) appendFileSync(properties, more({ port, controllerPort }));
  if (formatArgs !== undefined) await format(jars, properties, formatArgs);
  else if (!existsSync(data)) cpSync(await formattedData(jars), data, { recursive: true });
  return startProcess({
    name: 'kafka',
    dir,
    port,
    detached,
    env,
    command: 'java',
    args: ['-Xms64m', '-Xmx256m', ...jvmFlags, archive, LOGGING, '-cp', jars, 'kafka.Kafka', properties],
  });
}

/** Formatting takes a JVM of its own: it is done once, and every new broker starts from a copy. */
async function formattedData(jars: string): Promise<string> {
  const formatted = inServicesCache('kafka-formatted');
  if (existsSync(formatted)) return formatted;
  const folder = mkdtempSync(inServicesCache('kafka-format-'));
  try {
    const properties = join(folder, 'server.properties');
    const data = join(folder, 'log');
    fillTemplate('kafka/server.properties', properties, { PORT: 1, CONTROLLER_PORT: 2, DATA: data });
    await format(jars, properties);
    if (!existsSync(formatted)) renameSync(data, formatted);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return formatted;
}

function format(jars: string, properties: string, args: readonly string[] = []): Promise<void> {
  const tool = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', properties];
  return runCommand('java', [...jvmFlags, LOGGING, '-cp', jars, ...tool, ...args]);
}
