import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, runCommand } from './run-command.ts';
import { ServiceMissingError } from './service.ts';
import { inServicesCache } from './services-cache.ts';

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
/** Changes with the versions in the pom files, so that a new version is fetched. */
const RELEASE = 'kafka-4.4.0-cassandra-5.0.9';
const FOREIGN_NATIVES = /osx|windows|aarch_64|riscv64/;

/** The class path of one of the two Java services. Both are fetched by one run, once. */
export async function classPath(name: 'kafka' | 'cassandra'): Promise<string> {
  fetching ??= fetchJars();
  const folder = join(await fetching, name);
  // One order always: a class data archive is void with another.
  const jars = readdirSync(folder).sort();
  return jars.map((file) => join(folder, file)).join(':');
}

let fetching: Promise<string> | null = null;

async function fetchJars(): Promise<string> {
  const jars = inServicesCache(`jars-${RELEASE}`);
  if (existsSync(jars)) return jars;
  for (const command of ['java', 'mvn']) {
    if (findCommand(command) === null) {
      throw new ServiceMissingError(
        `Kafka and Cassandra need \`${command}\` (Java 17 and Maven) on the PATH.`,
      );
    }
  }
  const folder = mkdtempSync(inServicesCache('jars-new-'));
  try {
    await runCommand('mvn', [
      ...['-B', '-q', '-f', join(import.meta.dirname, 'pom.xml'), PLUGIN],
      ...['-DincludeScope=runtime', `-DoutputDirectory=${folder}/\${project.artifactId}`],
    ]);
    for (const file of readdirSync(join(folder, 'cassandra'))) {
      if (FOREIGN_NATIVES.test(file)) rmSync(join(folder, 'cassandra', file));
    }
    // Another process may have been first.
    if (!existsSync(jars)) renameSync(folder, jars);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return jars;
}
