import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/*
 * `node test/support/run-tests.ts unit suite`: runs the named vitest projects one after another and closes with
 * `N passed, N failed`, the line that CI counts by. A run without a test, or with one that was skipped where
 * services are required, has failed.
 */
const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  success: z.boolean(),
});

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

async function runProject(project: string, folder: string): Promise<Counts> {
  const file = join(folder, `${project}.json`);
  const child = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  const counted = report.parse(JSON.parse(await readFile(file, 'utf8')));
  const counts = {
    passed: counted.numPassedTests,
    failed: counted.numFailedTests,
    skipped: counted.numPendingTests,
  };
  // An error outside any test fails the run too.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  if (counts.passed + counts.failed === 0) counts.failed = 1;
  return counts;
}

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const folder = await mkdtemp(join(tmpdir(), 'faregate-report-'));
try {
  for (const project of process.argv.slice(2)) {
    const counts = await runProject(project, folder);
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
} finally {
  await rm(folder, { recursive: true });
}
const required = process.env.REQUIRE_SERVICES === '1';
if (required && total.skipped > 0)
  console.log(`${total.skipped} tests were skipped, and REQUIRE_SERVICES=1 allows none.`);
process.exitCode = total.failed > 0 || (required && total.skipped > 0) ? 1 : 0;
console.log(
  `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`,
);
