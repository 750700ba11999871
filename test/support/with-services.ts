import { describe, inject } from 'vitest';
import type { ServiceName } from '../services/service.ts';

/** A group of tests that needs these; skipped where the machine cannot give one, which CI counts as a failure. */
export function describeWith(services: readonly ServiceName[], name: string, tests: () => void): void {
  const missing = inject('missingServices');
  describe.skipIf(services.some((service) => missing[service] !== undefined))(name, tests);
}
