import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { z } from 'zod';

/*
 * `node test/support/run-tests.ts unit services+cluster,suite`: runs the named vitest projects one after another, those on both sides
 * of a comma side by side, as of services and suite each waits half of its time; and closes with the tests that failed and
 * `N passed, N failed`, the line that CI counts by. A run without a test, or with one that was skipped where services are
 * required, has failed.
 */
const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(''),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Each with the first line of its reason: whoever keeps only the end of a long log has them, too. */
const failures: string[] = [];

function namesOfFailed(project: string, { testResults }: z.infer<typeof report>): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter((each) => each.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [`${project} ${file}: ${firstLine(message)}`] : [];
    return failed.map(
      ({ fullName, failureMessages }) =>
        `${project} ${file} > ${fullName}: ${firstLine(failureMessages?.[0] ?? '')}`,
    );
  });
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

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
      '--reporter=./test/support/failures-at-once.ts',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) {
    // The other side goes on: what it finds is worth knowing.
    failures.push(`${project}: vitest ended with ${code}, and told nothing`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const counted = report.parse(JSON.parse(text));
  const counts = {
    passed: counted.numPassedTests,
    failed: counted.numFailedTests,
    skipped: counted.numPendingTests,
  };
  // An error outside any test fails the run too.
  failures.push(...namesOfFailed(project, counted));
  if (code !== 0 && counts.failed === 0) {
    counts.failed = 1;
    failures.push(`${project}: an error outside of any test, see above`);
  }
  if (counts.passed + counts.failed === 0) counts.failed = 1;
  return counts;
}

async function runInTurn(projects: string): Promise<void> {
  for (const project of projects.split('+')) {
    const counts = await runProject(project, folder);
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
}

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const folder = await mkdtemp(join(tmpdir(), 'faregate-report-'));
try {
  for (const step of process.argv.slice(2)) await Promise.all(step.split(',').map(runInTurn));
} finally {
  await rm(folder, { recursive: true });
}
const required = process.env.REQUIRE_SERVICES === '1';
if (required && total.skipped > 0)
  console.log(`${total.skipped} tests were skipped, and REQUIRE_SERVICES=1 allows none.`);
for (const failure of failures) console.log(`FAILED ${failure}`);
process.exitCode = total.failed > 0 || (required && total.skipped > 0) ? 1 : 0;
console.log(
  `${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`,
);
