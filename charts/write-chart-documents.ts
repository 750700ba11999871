import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type ErrorRow, errorCodes, errorTable } from '../api/contract/errors.ts';
import { configSchemaOfValues } from './config-schema-of-values.ts';
import { makeReadme } from './make-readme.ts';
import { makeValuesSchema } from './make-values-schema.ts';
import { neverNull } from './never-null.ts';
import { readValues } from './read-values.ts';

/**
 * Writes the files that are made from the chart's values, the schema of the server's configuration and the table of error codes. With
 * `--check` nothing is written: a stale file is named and fails, as does a version of the chart that is not the package's.
 */
const read = (path: string): string => readFileSync(new URL(`faregate/${path}`, import.meta.url), 'utf8');
const fromRoot = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));

const values = readValues(read('values.yaml'));
const config = configSchemaOfValues(fromRoot('openapi/config.schema.json'));
const renamed = parse(read('files/renamed-values.yaml')) as Record<string, string>;
const alerts = readdirSync(new URL('faregate/rules', import.meta.url))
  .sort()
  .flatMap((file) => (parse(read(`rules/${file}`)) as { alerts: { alert: string }[] }).alerts)
  .map(({ alert }) => alert);
const failures: Record<'gateway' | 'provider', string[]> = { gateway: [], provider: [] };
for (const code of errorCodes) {
  const { status, fromProvider }: ErrorRow = errorTable[code];
  if (status >= 500) failures[fromProvider ? 'provider' : 'gateway'].push(code);
}
const documents = {
  'values.schema.json': `${JSON.stringify(makeValuesSchema(values, { config, renamed, alerts }), null, 2)}\n`,
  'files/error-codes.json': `${JSON.stringify(failures, null, 2)}\n`,
  'files/never-null.json': `${JSON.stringify(neverNull(values), null, 2)}\n`,
  'README.md': makeReadme(read('README.template.md'), { values, config }),
};

const check = process.argv.includes('--check');
const problems: string[] = [];
for (const [path, text] of Object.entries(documents)) {
  if (readIfThere(path) === text) continue;
  if (check) problems.push(`charts/faregate/${path} is stale. Run: node charts/write-chart-documents.ts`);
  else {
    writeFileSync(new URL(`faregate/${path}`, import.meta.url), text);
    console.log(`Wrote charts/faregate/${path}`);
  }
}

const { appVersion, annotations } = parse(read('Chart.yaml')) as {
  appVersion: string;
  annotations: Record<string, string>;
};
const { version } = fromRoot('package.json') as { version: string };
if (appVersion !== version) problems.push(`charts/faregate/Chart.yaml: appVersion has to be ${version}`);
if (!annotations['artifacthub.io/images']?.includes(`faregate:${version}\n`)) {
  problems.push(`charts/faregate/Chart.yaml: artifacthub.io/images has to name faregate:${version}`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function readIfThere(path: string): string | null {
  try {
    return read(path);
  } catch {
    return null;
  }
}
