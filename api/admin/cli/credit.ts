import type { Command } from 'commander';
import { z } from 'zod';
import { randomBase62 } from '#core/ids.ts';
import { GRANT_DAYS_MAX } from '#core/limits.ts';
import { CreditGrant } from '../schemas/agent-record.ts';
import { agentLines } from './agents.ts';
import { addExamples, type OpenContext, parseId } from './cli-context.ts';
import { CliError } from './cli-error.ts';

export function addCredit(program: Command, open: OpenContext): void {
  const grant = program
    .command('credit')
    .description('what calls are paid from')
    .command('grant')
    .argument('<agent>', 'its id', parseId)
    .argument('<usd>', 'US dollars, such as 5 or 0.25')
    .option('--days <days>', `full days that it lasts, up to ${GRANT_DAYS_MAX}`, String(GRANT_DAYS_MAX))
    .option('--grant-id <id>', 'booked once: give it again to repeat a grant whose answer was lost')
    .description('add credit to an agent')
    .action(async (id: string, usd: string, options: { days: string; grantId?: string }) => {
      const { client, show, paint } = open();
      const grantId = options.grantId ?? `cli-${randomBase62(16)}`;
      const body = { usd, days: Number(options.days), grant_id: grantId };
      const { raw, value } = await client
        .post(CreditGrant, `/agents/${id}/grants`, body)
        .catch((error: unknown) => Promise.reject(withGrantId(error, grantId)));
      const what = value.repeated
        ? `The grant ${grantId} was booked before: nothing was added.`
        : `Granted $${usd} as ${grantId}.`;
      show(raw, () => [what, '', ...agentLines(value.agent, paint)]);
    });
  addExamples(grant, {
    'credit grant 2 10.00': 'ten dollars for seven days',
    'credit grant 2 0.25 --days 1': 'a quarter, until tomorrow night',
    'credit grant 2 10 --grant-id invoice-118': 'booked once, however often it is sent',
  });
}

/** After a lost answer nobody knows whether the credit was booked; the same id makes asking again safe. */
function withGrantId(error: unknown, grantId: string): unknown {
  if (!(error instanceof CliError) || isRefusal(error)) return error;
  return new CliError(
    error.exitCode,
    `${error.message} The credit may have been booked: repeat with --grant-id ${grantId}, booked once.`,
    { ...error.body, grant_id: grantId },
  );
}

const isRefusal = ({ body }: CliError): boolean =>
  z
    .object({ error: z.object({ code: z.enum(['invalid_request', 'not_found', 'invalid_api_key']) }) })
    .safeParse(body).success;
