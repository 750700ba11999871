import type { Command } from 'commander';
import { z } from 'zod';
import { CallEntry } from '../../contract/call-entry.ts';
import { dollars, type OpenContext, parseId, shortTime } from './cli-context.ts';
import { addExamples } from './help.ts';
import { formatFacts } from './table.ts';

const foundCall = z.object({ agent_id: z.int(), generation_id: z.string().nullable(), call: CallEntry });

export function addCalls(program: Command, open: OpenContext): void {
  const find = program
    .command('calls')
    .description('single calls')
    .command('find')
    .argument('<id>', "the call's id, from its answer's headers", parseId)
    .description('a call of any agent, by its id')
    .action(async (id: string) => {
      const { client, show, paint } = open();
      const { raw, value } = await client.get(foundCall, `/calls/${id}`);
      const { call } = value;
      const estimated = call.tokens.estimated === true ? ' (estimated)' : '';
      const failure = call.error_code === null ? '' : ` (${call.error_code})`;
      show(raw, () =>
        formatFacts(
          [
            ['Call', String(call.id)],
            ['Agent', String(value.agent_id)],
            ['Key', `${call.key.id} ${call.key.label} (${call.key.prefix}…)`],
            ['Model', call.model],
            ['Endpoint', `${call.endpoint}${call.stream ? ', streamed' : ''}`],
            ['Outcome', call.outcome + failure],
            ['Started', `${shortTime(call.started_at)} UTC, took ${call.duration_ms} ms`],
            ['Tokens', `${call.tokens.prompt} in, ${call.tokens.completion} out${estimated}`],
            ['Held', dollars(call.reserved_usd)],
            ['Charged', dollars(call.charge_usd)],
            ...(value.generation_id === null ? [] : [['Generation', value.generation_id] as const]),
          ],
          paint,
        ),
      );
    });
  addExamples(find, { 'calls find 244335062519810': 'by the x-service-call-id that the caller was told' });
}
