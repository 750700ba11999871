import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ServiceMissingError, type ServiceName } from './service.ts';
import { startService } from './start-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Why this machine cannot give a service. */
    missingServices: Partial<Record<ServiceName, string>>;
  }
}

const NEEDED: readonly ServiceName[] = ['redis', 'kafka', 'cassandra', 's3'];

/** Installs what the tests start, and tries each once: a machine that cannot give one skips its tests, and says so. */
export default async function setup(project: TestProject): Promise<void> {
  const missing: Partial<Record<ServiceName, string>> = {};
  for (const name of NEEDED) {
    const dir = mkdtempSync(join(tmpdir(), `faregate-${name}-`));
    try {
      await (await startService[name]({ dir })).stop('SIGKILL');
    } catch (error) {
      if (!(error instanceof ServiceMissingError)) throw error;
      missing[name] = error.message;
      console.warn(`\nSKIPPED: every test that needs ${name}. ${error.message}\n`);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  project.provide('missingServices', missing);
}
