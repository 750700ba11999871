import type { Command } from 'commander';
import { AuditReport } from '../schemas/audit-report.ts';
import { dollars, type OpenContext, shortTime } from './cli-context.ts';
import { formatFacts, formatTable } from './table.ts';
import type { Paint } from './terminal.ts';

export function addLedger(program: Command, open: OpenContext): void {
  program
    .command('ledger')
    .description('the books')
    .command('audit')
    .description("check every agent's books; exit code 1 when anything is off")
    .action(async () => {
      const { client, show, paint, fail } = open();
      const { raw, value } = await client.get(AuditReport, '/ledger/audit');
      if (!value.ok) fail();
      show(raw, () => auditLines(value, paint));
    });
}

function auditLines(report: AuditReport, paint: Paint): string[] {
  const { totals, holds, problems } = report;
  return [
    ...formatFacts(
      [
        ['Agents', `${report.agents}, with ${report.keys} keys`],
        ['Granted', dollars(totals.granted_usd)],
        ['Moved', `in ${dollars(totals.moved_in_usd)}, out ${dollars(totals.moved_out_usd)}`],
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
          ...formatTable(
            problems,
            [
              { title: 'AGENT', text: ({ agent_id }) => String(agent_id), right: true },
              { title: 'PROBLEM', text: ({ problem }) => problem },
            ],
            paint,
          ),
        ]),
  ];
}
