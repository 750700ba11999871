import type { Command } from 'commander';
import { systemClock } from '#core/clock.ts';
import { migrateStores } from '../migrate-stores.ts';
import { addExamples, loadCluster, type OpenContext } from './cli-context.ts';
import { explaining } from './explaining.ts';

export function addMigrate(program: Command, open: OpenContext): void {
  const migrate = program
    .command('migrate')
    .description("make a cluster's topics and tables, or bring them to this release; may be repeated")
    .action(async () => {
      const context = open();
      const { show, paint, fail } = context;
      const { storage, versions, problems } = await explaining(async () => {
        const storage = await loadCluster(context);
        const migrated = await context.telling('Making topics and tables', () =>
          migrateStores(storage, systemClock),
        );
        return { storage, ...migrated };
      });
      const unsafe = problems.filter(({ isFatal }) => isFatal || !storage.allowUnsafe);
      if (unsafe.length > 0) fail();
      const sentences = problems.map(({ sentence }) => sentence);
      show({ schema_versions_applied: versions, topic_problems: sentences }, () => [
        versions.length === 0
          ? 'The tables are up to date.'
          : `Brought the tables to schema version ${versions.at(-1)}.`,
        'The topics are there.',
        ...sentences.map((sentence) => paint(unsafe.length > 0 ? 'red' : 'dim', sentence)),
      ]);
    });
  addExamples(migrate, { migrate: 'before the first start, and with each release' });
}
