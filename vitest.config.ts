import { defineConfig } from 'vitest/config';

/**
 * How long a test waits for a condition. A busy machine needs long to fulfil one, so the bound is far above what any needs: it
 * ends a test that would wait for ever, and says nothing about speed.
 */
const expect = { poll: { timeout: 30_000 } };
/** The same of a test, many of which do a fixed amount of work, and of what is started before it. */
const LONGEST_MS = 15 * 60_000;

/**
 * `unit` needs no service and no server process; `suite` starts real processes and clients; `chart` the chart's tools;
 * `services` real stores; `cluster` runs the tests of the API, its fuzzing and the console's main flows once more, on the
 * cluster shape.
 */
export default defineConfig({
  test: {
    // All cores: by itself one would be left idle, and of two that is half.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          expect,
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.suite.test.ts', 'test/**/*.services.test.ts'],
          // Modules are loaded once for all files of a worker: half the time. A test leaves nothing changed behind it.
          isolate: false,
          testTimeout: LONGEST_MS,
        },
      },
      {
        test: {
          name: 'services',
          expect,
          include: ['test/**/*.services.test.ts'],
          globalSetup: 'test/services/global-setup.ts',
          testTimeout: LONGEST_MS,
          hookTimeout: LONGEST_MS,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'cluster',
          expect,
          include: [
            'test/gateway/*.test.ts',
            ...['call-life', 'failures', 'headers', 'model-list'].map(
              (name) => `test/formats/${name}.test.ts`,
            ),
            'test/clients/*.test.ts',
            'test/mcp/*.test.ts',
            'test/{console,schemathesis}/either-shape.suite.test.ts',
          ],
          exclude: [
            'test/!(console|schemathesis)/*.suite.test.ts',
            'test/**/*.services.test.ts',
            // About the embedded journal: its thread, its file, its time, and what a start finds of a killed process.
            ...['crash-loss', 'journal-failure', 'metrics', 'random-clocks', 'wrong-clock'].map(
              (name) => `test/gateway/${name}.test.ts`,
            ),
          ],
          globalSetup: 'test/services/cluster-setup.ts',
          // As in `unit`, whose files most of these are once more.
          isolate: false,
          setupFiles: 'test/support/skip-without-cluster.ts',
          testTimeout: LONGEST_MS,
          hookTimeout: LONGEST_MS,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'chart',
          expect,
          include: ['test/{chart,monitoring}/*.suite.test.ts'],
          // The files of `ci/` are rendered once for all of them.
          isolate: false,
          fileParallelism: false,
          testTimeout: LONGEST_MS,
        },
      },
      {
        test: {
          name: 'suite',
          expect,
          include: ['test/**/*.suite.test.ts'],
          exclude: ['test/{chart,monitoring}/*.suite.test.ts'],
          testTimeout: LONGEST_MS,
          hookTimeout: LONGEST_MS,
          fileParallelism: false,
        },
      },
    ],
  },
});
