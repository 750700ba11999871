import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where what was downloaded and built lies: outside the checkout, because `make clean` must not cost another three
 * minutes. `SERVICES_CACHE` moves it.
 */
export function inServicesCache(...names: string[]): string {
  const folder = process.env.SERVICES_CACHE ?? join(homedir(), '.cache', 'faregate-services');
  mkdirSync(folder, { recursive: true });
  return join(folder, ...names);
}
