import { defineConfig } from 'vitest/config';

/** `unit` needs no service and no server process; `suite` starts real processes and clients. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.suite.test.ts', 'test/**/*.services.test.ts'],
          // Modules are loaded once for all files of a worker: half the time. A test leaves nothing changed behind it.
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'services',
          include: ['test/**/*.services.test.ts'],
          globalSetup: 'test/services/global-setup.ts',
          testTimeout: 180_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'suite',
          include: ['test/**/*.suite.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
