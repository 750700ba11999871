import type { Command } from 'commander';
import { systemClock } from '#core/clock.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { auditStores, type StoresAudit } from '../audit-stores.ts';
import { recoverStores } from '../recover-stores.ts';
import { AuditReport } from '../schemas/audit-report.ts';
import { BillsReport } from '../schemas/bills-report.ts';
import { auditedWork } from './audited-work.ts';
import {
  addExamples,
  dollars,
  loadCluster,
  type OpenContext,
  parseWaitMs,
  shortTime,
} from './cli-context.ts';
import { usageError } from './cli-error.ts';
import { explaining } from './explaining.ts';
import { type Column, formatFacts, formatTable, type Paint } from './terminal.ts';

export function addLedger(program: Command, open: OpenContext): void {
  const ledger = program.command('ledger').description('the books');
  addLedgerAudit(ledger, open);
  addLedgerBills(ledger, open);
  addLedgerRecover(ledger, open);
  addExamples(ledger, {
    'ledger audit': "of what the gateway's ledger holds",
    'ledger audit --stores': 'of a cluster, against its log: reads all of it',
    'ledger recover 17 --wait 300': 'one shard, and five minutes of patience',
  });
}

function addLedgerAudit(ledger: Command, open: OpenContext): void {
  ledger
    .command('audit')
    .description("check every agent's books; exit code 1 when anything is off")
    .option('--stores', 'of a cluster: fold its whole log, and compare Redis and Cassandra with it')
    .action(async ({ stores }: { stores?: true }) => {
      const context = open();
      const { show, paint, fail } = context;
      if (stores) {
        const audit = await explaining(async () => {
          const storage = await loadCluster(context);
          return context.telling('Reading the whole log', () => auditStores(storage, { clock: systemClock }));
        });
        if (audit.problems.length > 0) fail();
        show(toStoresRecord(audit), () => storesLines(audit, paint));
        return;
      }
      const { raw, value } = await context.client.get(AuditReport, '/ledger/audit');
      if (!value.ok) fail();
      show(raw, () => auditLines(value, paint));
    });
}

function addLedgerBills(ledger: Command, open: OpenContext): void {
  ledger
    .command('bills')
    .description("compare the providers' bills with the calls; exit code 1 when one cannot be read")
    .action(async () => {
      const { client, show, paint, fail } = open();
      const { raw, value } = await client.get(BillsReport, '/ledger/bills');
      if (!value.ok) fail();
      show(raw, () =>
        value.bills.length === 0
          ? ['No provider here can be asked for its bill.']
          : formatTable(value.bills, billColumns, paint),
      );
    });
}

function addLedgerRecover(ledger: Command, open: OpenContext): void {
  ledger
    .command('recover [shards...]')
    .description(
      'of a cluster: close shards, all or those named, until a worker has rebuilt them from the log',
    )
    .option('--yes', 'do not ask')
    .option('--wait <seconds>', 'how long to wait until they are open again', '120')
    .action(async (names: string[], { yes, wait }: { yes?: true; wait: string }) => {
      const context = open();
      const { show, paint, fail, confirm, user } = context;
      const waitMs = parseWaitMs(wait);
      const storage = await explaining(() => loadCluster(context));
      const shards = names.length === 0 ? [...Array(SHARDS).keys()] : names.map(parseShard);
      const what = names.length === 0 ? `all ${SHARDS} shards` : `shards ${shards.join(', ')}`;
      if (!yes) await confirm(`Until they are rebuilt, no call of an agent in ${what} starts. Close them?`);
      const subject = { shards: names.length === 0 ? 'all' : shards.join(', ') };
      const { shards: closed, isRedisAway } = await explaining(() =>
        auditedWork({ storage, action: 'ledger.recover', subject, user }, async (begin) => {
          await begin();
          return context.telling('Waiting for a worker to rebuild them', () =>
            recoverStores(storage, { shards, waitMs, clock: systemClock }),
          );
        }),
      );
      if (closed.length > 0) fail();
      const why = isRedisAway
        ? 'Redis does not answer: nobody knows whether they are open.'
        : 'Look at the logs of the settlement workers.';
      const recovered = shards.length - closed.length;
      show({ recovered, closed }, () => [
        paint('green', `${recovered} of ${shards.length} shards were rebuilt from the log.`),
        ...(closed.length === 0 ? [] : [paint('red', `Still closed: ${closed.join(', ')}. ${why}`)]),
      ]);
    });
}

const billColumns: Column<BillsReport['bills'][number]>[] = [
  { title: 'PROVIDER', text: ({ providers }) => providers.join(', ') },
  { title: 'SINCE', text: ({ comparison }) => (comparison === null ? '' : shortTime(comparison.from)) },
  {
    title: 'BILLED',
    text: ({ comparison }) => (comparison === null ? '' : dollars(comparison.billed_usd)),
    right: true,
  },
  {
    title: 'RECORDED',
    text: ({ comparison }) => (comparison === null ? '' : dollars(comparison.recorded_usd)),
    right: true,
  },
  {
    title: 'DIFFERENCE',
    text: ({ comparison, problem }) =>
      problem ?? (comparison === null ? 'nothing to compare with yet' : dollars(comparison.difference_usd)),
    style: ({ problem }) => (problem === null ? null : 'red'),
    right: true,
  },
];

function parseShard(text: string): number {
  const shard = Number(text);
  if (/^\d{1,2}$/.test(text) && shard < SHARDS) return shard;
  throw usageError(`${text} is no shard: they are numbered from 0 to ${SHARDS - 1}.`);
}

const toStoresRecord = ({ fromCopies, problems, ...rest }: StoresAudit) => ({
  ok: problems.length === 0,
  ...rest,
  shards_from_copies: fromCopies,
  problems: problems.map(({ shard, agentId, problem }) => ({ shard, agent_id: agentId, problem })),
});

function storesLines(audit: StoresAudit, paint: Paint): string[] {
  const { shards, agents, events, fromCopies, problems } = audit;
  return [
    ...formatFacts(
      [
        ['Shards', String(shards)],
        ['Agents', String(agents)],
        ['Events', `${events} folded`],
        ['From copies', fromCopies === 0 ? 'none' : `${fromCopies} shards, whose log begins later`],
      ],
      paint,
    ),
    '',
    ...(problems.length === 0
      ? [paint('green', 'Redis and Cassandra are as the log has it.')]
      : [
          paint('red', `${problems.length} differences:`),
          ...formatTable(problems, differenceColumns, paint),
        ]),
  ];
}

const differenceColumns: Column<StoresAudit['problems'][number]>[] = [
  { title: 'SHARD', text: ({ shard }) => String(shard), right: true },
  { title: 'AGENT', text: ({ agentId }) => String(agentId ?? ''), right: true },
  { title: 'DIFFERENCE', text: ({ problem }) => problem },
];

function auditLines(report: AuditReport, paint: Paint): string[] {
  const { totals, holds, problems } = report;
  return [
    ...formatFacts(
      [
        ['Agents', `${report.agents}, with ${report.keys} keys`],
        ['Granted', dollars(totals.granted_usd)],
        [
          'Moved',
          `in ${dollars(totals.moved_in_usd)}, out ${dollars(totals.moved_out_usd)}, in transit ${dollars(totals.in_transit_usd)}`,
        ],
        ['Free', dollars(totals.free_usd)],
        ['Held', `${dollars(totals.held_usd)} by ${holds.open} calls, ${holds.pending} of them to be priced`],
        ['Charged', dollars(totals.charged_usd)],
        ['Expired', dollars(totals.expired_usd)],
        ['Oldest hold', holds.oldest_started_at === null ? 'none' : shortTime(holds.oldest_started_at)],
      ],
      paint,
    ),
    '',
    ...(report.ok
      ? [paint('green', 'The books are right.')]
      : [
          paint('red', `${report.problems_found} problems:`),
          ...formatTable(problems, problemColumns, paint),
        ]),
  ];
}

const problemColumns: Column<AuditReport['problems'][number]>[] = [
  { title: 'AGENT', text: ({ agent_id }) => String(agent_id), right: true },
  { title: 'PROBLEM', text: ({ problem }) => problem },
];
