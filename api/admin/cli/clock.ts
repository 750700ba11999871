import type { Command } from 'commander';
import { isoTime, systemClock } from '#core/clock.ts';
import { dropClockFileAhead, writeClockFile } from '#core/clock-file.ts';
import { type LedgerTimeSet, setLedgerTimeBack } from '#core/ledger/embedded/set-time-back.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import type { ClusterStorage } from '../../config/storage-settings.ts';
import { findShardsAhead, recoverStores } from '../recover-stores.ts';
import { ClockAccepted } from '../schemas/clock-accepted.ts';
import { auditedWork } from './audited-work.ts';
import { addExamples, type CliContext, type OpenContext, parseWaitMs, shortTime } from './cli-context.ts';
import { explaining } from './explaining.ts';

export function addClock(program: Command, open: OpenContext): void {
  const clock = program.command('clock').description('what to do when a clock was wrong');
  clock
    .command('accept')
    .description(
      'believe the clock of this machine, which the running gateway doubts because it jumped ahead',
    )
    .action(async () => {
      const { client, showAnswer } = open();
      showAnswer(await client.post(ClockAccepted, '/clock/accept', {}), ({ accepted, now }, paint) => [
        accepted
          ? paint('green', `The clock is believed: it is ${shortTime(now)} UTC.`)
          : `The clock was not doubted: it is ${shortTime(now)} UTC.`,
      ]);
    });
  clock
    .command('repair')
    .description(
      "set the ledger's time back to the present one, after a clock was ahead and is right again; of one process while its " +
        'gateway does not run',
    )
    .option('--yes', 'do not ask')
    .option('--wait <seconds>', 'of a cluster: how long to wait until its shards are open again', '120')
    .action(async ({ yes, wait }: { yes?: true; wait: string }) => {
      const waitMs = parseWaitMs(wait);
      const context = open();
      const storage = await explaining(() => context.loadStorage());
      if (storage.mode === 'cluster') await repairCluster(context, storage, { yes: yes === true, waitMs });
      else await repairFolder(context, storage, yes === true);
    });
  addExamples(clock, {
    'clock accept': 'the machine was given its right time late, or a paused one goes on',
    'clock repair': 'readyz says that no call starts before a time that lies ahead',
    'clock repair --yes': 'from a script',
  });
}

async function repairFolder(
  { show, paint, confirm, user }: CliContext,
  storage: Exclude<Awaited<ReturnType<CliContext['loadStorage']>>, ClusterStorage>,
  yes: boolean,
): Promise<void> {
  const { dataDir } = storage;
  const nowMs = systemClock.now();
  const subject = { to: isoTime(nowMs) };
  const set = await explaining(() =>
    auditedWork({ storage, action: 'clock.repair', subject, user }, (begin) =>
      setLedgerTimeBack({
        ...{ dataDir, nowMs },
        async beforeChange(fromMs) {
          const question = `The ledger's time is ${timeOf(fromMs)}, this machine's ${timeOf(nowMs)}. Is the machine's right, and the ledger's to be set back to it?`;
          if (!yes) await confirm(question);
          await begin();
        },
      }),
    ),
  );
  // The last process may have left the time that was wrong, and the next one would go on from it. It need not have written
  // that time into the ledger.
  if (set.isSet) await writeClockFile(dataDir, trustedClock(systemClock).reading());
  else dropClockFileAhead(dataDir, systemClock);
  show(toRecord(set, nowMs), () => [
    set.isSet
      ? paint(
          'green',
          `The ledger's time was set back from ${timeOf(set.fromMs)} to ${timeOf(nowMs)}. Start the gateway.`,
        )
      : `The ledger's time is not ahead of this machine's, ${timeOf(nowMs)}: nothing was changed.`,
    ...lotLines(set),
  ]);
}

async function repairCluster(
  { show, paint, fail, confirm, user, telling }: CliContext,
  storage: ClusterStorage,
  { yes, waitMs }: { yes: boolean; waitMs: number },
): Promise<void> {
  const ahead = await explaining(() => findShardsAhead(storage));
  if (ahead.length === 0) {
    return show({ repaired: 0, closed: [] }, () => ['No shard is ahead of its clock: nothing was changed.']);
  }
  const shards = ahead.map(({ shard }) => shard);
  if (!yes)
    await confirm(
      `${shards.length} shards are ahead of Redis' clock. Is that right, and may they be closed until they are rebuilt?`,
    );
  const subject = { shards: shards.join(', ') };
  const { shards: closed } = await explaining(() =>
    auditedWork({ storage, action: 'clock.repair', subject, user }, async (begin) => {
      await begin();
      return telling('Waiting for a worker to rebuild them', () =>
        recoverStores(storage, { shards, waitMs, clock: systemClock }),
      );
    }),
  );
  if (closed.length > 0) fail();
  show({ repaired: shards.length - closed.length, closed }, () => [
    paint(
      'green',
      `${shards.length - closed.length} of ${shards.length} shards have the time of Redis again.`,
    ),
    ...(closed.length === 0
      ? []
      : [paint('red', `Still closed: ${closed.join(', ')}. Look at the logs of the settlement workers.`)]),
    'Start the API processes again: one whose clock was ahead is refused until it follows the right time.',
  ]);
}

const timeOf = (atMs: number): string => `${isoTime(atMs).slice(0, 19).replace('T', ' ')} UTC`;

const toRecord = ({ isSet, fromMs, longerLots }: LedgerTimeSet, nowMs: number) => ({
  repaired: isSet,
  from: fromMs === 0 ? null : isoTime(fromMs),
  to: isSet ? isoTime(nowMs) : null,
  longer_lots: longerLots.map(({ agentId, expiresAtMs }) => ({
    agent_id: agentId,
    expires_at: isoTime(expiresAtMs),
  })),
});

const lotLines = ({ longerLots }: LedgerTimeSet): string[] =>
  longerLots.length === 0
    ? []
    : [
        `${longerLots.length} lots were granted while the clock was ahead, and end later than one of today would:`,
        ...longerLots.map(({ agentId, expiresAtMs }) => `  agent ${agentId}, until ${timeOf(expiresAtMs)}`),
      ];
