import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type InstalledPackage, licenceTexts, requireAllowedLicences } from './licences.ts';

/*
 * A step of the Dockerfile, in the folder where npm has installed: takes out what nothing runs, and leaves the bill of
 * materials and the licences of exactly what remains.
 */
/** Peers that are wanted for their types alone. */
const TYPES_ONLY = ['typescript'];
/** A package of builds for browsers: maps and other builds of the same are ten times as large as what is served of it. */
const SERVED = {
  'swagger-ui-dist': ['LICENSE', 'NOTICE', 'package.json', 'swagger-ui-bundle.js', 'swagger-ui.css'],
};
const HIDDEN_LOCK = 'node_modules/.package-lock.json';
const BILL = 'sbom.cdx.json';

interface Bill {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string } };
  components: { 'bom-ref': string; name: string }[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const write = (path: string, content: unknown) =>
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);

/** Names of commands point at what may be gone, and nothing here is run by its command. */
rmSync('node_modules/.bin', { recursive: true, force: true });
const lock = read(HIDDEN_LOCK);
for (const name of TYPES_ONLY) {
  rmSync(`node_modules/${name}`, { recursive: true, force: true });
  delete lock.packages[`node_modules/${name}`];
}
write(HIDDEN_LOCK, lock);
for (const [name, served] of Object.entries(SERVED)) {
  const folder = `node_modules/${name}`;
  for (const file of readdirSync(folder)) if (!served.includes(file)) rmSync(`${folder}/${file}`);
}

const packages: InstalledPackage[] = Object.entries<{ version: string; license?: string }>(lock.packages)
  .map(([path, { version, license = '' }]) => ({
    path,
    name: path.replace(/^.*node_modules\//, ''),
    version,
    licence: license,
  }))
  .sort((a, b) => (a.path < b.path ? -1 : 1));
requireAllowedLicences(packages);
writeFileSync('THIRD_PARTY_LICENCES.txt', licenceTexts('.', packages));

const { serialNumber: _, ...bill }: Bill = read(BILL);
const isLeft = (ref: string) => TYPES_ONLY.every((name) => !ref.startsWith(`${name}@`));
// Two builds of the same sources are to be the same: no time, no serial number, no name of the folder.
delete bill.metadata.timestamp;
bill.metadata.component.name = read('package.json').name;
bill.components = bill.components.filter((each) => isLeft(each['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => isLeft(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isLeft) }));
write(BILL, bill);

const billed = bill.components.map((each) => each['bom-ref']).sort();
const installed = [...new Set(packages.map(({ name, version }) => `${name}@${version}`))].sort();
if (billed.join() !== installed.join()) throw new Error('The bill of materials is not of what is installed.');
