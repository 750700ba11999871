import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { backUpFolder } from '#core/backup/back-up-folder.ts';
import type { ArchiveContents } from '#core/backup/read-archive.ts';
import { type FolderRestored, restoreFolder } from '#core/backup/restore-folder.ts';
import { isoTime, systemClock } from '#core/clock.ts';
import { inWords } from '#core/in-words.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import { backUpStores, restoreStores } from '../back-up-stores.ts';
import { auditedWork, type StoreWork } from './audited-work.ts';
import { addExamples, type CliContext, dollars, type OpenContext, shortTime } from './cli-context.ts';
import { explaining } from './explaining.ts';
import { formatFacts, type Paint } from './terminal.ts';

export function addBackup(program: Command, open: OpenContext): void {
  const backup = program
    .command('backup <file>')
    .description('write all agents, keys, credit and calls into one file, while the gateway runs or not')
    .option('--yes', 'replace the file when it is there')
    .action(async (name: string, { yes }: { yes?: true }) => {
      const { show, paint, confirm, loadStorage, telling } = open();
      const file = resolve(name);
      const isReplaced = existsSync(file) && statSync(file).isFile();
      if (isReplaced && !yes) await confirm(`${file} is there. Replace it?`);
      const contents = await explaining(async () => {
        const storage = await loadStorage();
        return telling('Writing the backup', () =>
          storage.mode === 'cluster'
            ? backUpStores(storage, { file, clock: systemClock })
            : backUpFolder({ dataDir: storage.dataDir, file, nowMs: systemClock.now() }),
        );
      });
      const bytes = statSync(file).size;
      show({ file, bytes, ...toRecord(contents) }, () => [
        `Wrote ${file}, ${bytes} bytes, and read it back.`,
        '',
        ...contentLines(contents, paint),
        ...secretLines(contents, paint),
        ...timeLines(contents, paint, 'backup'),
      ]);
    });

  const restore = program
    .command('restore <file>')
    .description('make a gateway that does not run, or an empty cluster, hold what a backup does')
    .option('--yes', 'do not ask')
    .action(async (name: string, { yes }: { yes?: true }) => {
      const context = open();
      const { show, paint } = context;
      const archive = resolve(name);
      const { target, contents, movedTo, movesLedgerTime } = await explaining(() =>
        context.telling('Restoring the backup', () => restoreFrom(archive, yes ?? false, context)),
      );
      show({ file: archive, restored_into: target, moved_to: movedTo, ...toRecord(contents) }, () => [
        `Restored ${archive} into ${target}.`,
        ...(movedTo === null ? [] : [`What stood there is in ${movedTo}.`]),
        '',
        ...contentLines(contents, paint),
        ...(movesLedgerTime ? timeLines(contents, paint, 'restore') : []),
      ]);
    });

  addExamples(backup, { 'backup /var/backups/faregate.backup --yes': 'from a script, over the last one' });
  addExamples(restore, { 'restore /var/backups/faregate.backup': 'while the gateway does not run' });
}

interface Restored extends FolderRestored {
  target: string;
  /** The shards of a cluster take Redis' time instead where the backup's is ahead of it. */
  movesLedgerTime: boolean;
}

async function restoreFrom(archive: string, yes: boolean, context: CliContext): Promise<Restored> {
  const { confirm, user } = context;
  const storage = await context.loadStorage();
  const made = (contents: ArchiveContents) => `${shortTime(isoTime(contents.header.madeAtMs))} UTC`;
  const work: StoreWork = { storage, action: 'restore', subject: { file: archive }, user };
  return auditedWork(work, async (begin) => {
    if (storage.mode === 'cluster') {
      const contents = await restoreStores(storage, {
        archive,
        clock: systemClock,
        async beforeChange(found) {
          const of = `the backup of ${made(found)}, with ${found.agents} agents`;
          if (!yes) await confirm(`Write ${of}, into the cluster? It cannot be taken back.`);
          await begin();
        },
      });
      return { target: 'the cluster', contents, movedTo: null, movesLedgerTime: false };
    }
    const { dataDir } = storage;
    const restored = await restoreFolder({
      archive,
      dataDir,
      nowMs: systemClock.now(),
      async beforeChange(found, isOccupied) {
        const question = `${dataDir} holds a gateway's data. Move it aside for the backup of ${made(found)}?`;
        if (isOccupied && !yes) await confirm(question);
        await begin();
      },
    });
    return { target: dataDir, ...restored, movesLedgerTime: true };
  });
}

/** For programs. */
const toRecord = (contents: ArchiveContents) => ({
  made_at: isoTime(contents.header.madeAtMs),
  shape: contents.header.shape,
  agents: contents.agents,
  active_keys: contents.activeKeys,
  calls: contents.calls,
  balance_usd: formatUsd(contents.balanceNanoUsd),
  ledger_time: contents.lastAtMs === 0 ? null : isoTime(contents.lastAtMs),
  holds_key_secret: holdsSecret(contents),
});

function contentLines(contents: ArchiveContents, paint: Paint): string[] {
  const { header, agents, activeKeys, calls, balanceNanoUsd } = contents;
  return formatFacts(
    [
      ['Made', `${shortTime(isoTime(header.madeAtMs))} UTC, ${SHAPES[header.shape]}`],
      ['Agents', `${agents}, with ${activeKeys} keys`],
      ['Credit', dollars(formatUsd(balanceNanoUsd))],
      ['Calls', String(calls)],
    ],
    paint,
  );
}

const SHAPES = { embedded: 'of one process', cluster: 'of a cluster' };

function secretLines(contents: ArchiveContents, paint: Paint): string[] {
  if (!holdsSecret(contents)) return [];
  return ['', paint('yellow', 'It holds the secret that API keys are hashed with: keep it from others.')];
}

/** A gateway of one process waits for its ledger's time. */
function timeLines({ lastAtMs }: ArchiveContents, paint: Paint, command: 'backup' | 'restore'): string[] {
  const aheadMs = lastAtMs - systemClock.now();
  if (aheadMs <= CLOCK_APART_MAX_MS) return [];
  const when = command === 'backup' ? 'after its restore' : 'before you start the gateway';
  const ahead = `Its ledger's time is ${inWords(aheadMs)} ahead of this machine's`;
  return [
    '',
    paint('yellow', `${ahead}: the gateway starts no call for ${inWords(aheadMs - CLOCK_APART_MAX_MS)}.`),
    `If this machine's clock is right, run faregate clock repair ${when}. If it is wrong, set it right first.`,
  ];
}

const holdsSecret = ({ header }: ArchiveContents): boolean =>
  header.peppers.some(({ secret }) => secret !== null);
