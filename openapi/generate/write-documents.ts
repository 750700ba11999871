import { readFileSync, writeFileSync } from 'node:fs';
import { adminRouter } from '../../api/admin/router.ts';
import { makeConfigSchema } from '../../api/config/config-file.ts';
import { guides } from '../../api/docs-page/guides.ts';
import { v1Router } from '../../api/routers/router.ts';
import { adminFacts, v1Facts } from './document-facts.ts';
import { fillGuide } from './fill-guide.ts';
import { makeDocument } from './make-document.ts';
import { makeMetricsTable } from './metrics-table.ts';

/**
 * Every generated file of the repository. With `--check` nothing is written: a stale file is named and fails.
 */
const documents: readonly { path: string; make: () => string }[] = [
  { path: 'openapi/v1.json', make: () => makeDocument(v1Router, v1Facts) },
  { path: 'openapi/admin.json', make: () => makeDocument(adminRouter, adminFacts) },
  { path: 'openapi/config.schema.json', make: () => `${JSON.stringify(makeConfigSchema(), null, 2)}\n` },
  // Elsewhere Node tells less of its process.
  ...(process.platform === 'linux' ? [{ path: 'openapi/metrics.md', make: makeMetricsTable }] : []),
  ...['docs/operate.md', ...guides.map((name) => `docs/guides/${name}.md`)].map((path) => {
    return { path, make: () => fillGuide(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) };
  }),
];

const check = process.argv.includes('--check');
let stale = 0;
for (const { path, make } of documents) {
  const file = new URL(`../../${path}`, import.meta.url);
  const text = make();
  if (readIfThere(file) === text) continue;
  if (check) {
    stale += 1;
    console.error(`${path} is stale. Run: make openapi`);
  } else {
    writeFileSync(file, text);
    console.log(`Wrote ${path}`);
  }
}
process.exitCode = stale === 0 ? 0 : 1;

function readIfThere(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
