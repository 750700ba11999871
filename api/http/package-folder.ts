import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** Where npm has put a package of which files are served to browsers. */
export function packageFolder(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`The package ${name} is not installed; a web page needs it.`);
  return dirname(manifest);
}
