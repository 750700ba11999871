import type { Command } from 'commander';
import { z } from 'zod';
import { CallEntry } from '../../contract/call-entry.ts';
import { addExamples, dollars, type OpenContext, parseId, shortTime } from './cli-context.ts';
import { formatFacts, type Paint } from './terminal.ts';

const foundCall = z.object({ agent_id: z.int(), generation_id: z.string().nullable(), call: CallEntry });

export function addCalls(program: Command, open: OpenContext): void {
  const find = program
    .command('calls')
    .description('single calls')
    .command('find')
    .argument('<id>', "the call's id, from its answer's headers", parseId)
    .description('a call of any agent, by its id')
    .action(async (id: string) => {
      const { client, showAnswer } = open();
      showAnswer(await client.get(foundCall, `/calls/${id}`), callLines);
    });
  addExamples(find, { 'calls find 244335062519810': 'by the x-service-call-id that the caller was told' });
}

function callLines({ agent_id, generation_id, call }: z.infer<typeof foundCall>, paint: Paint): string[] {
  const estimated = call.tokens.estimated === true ? ' (estimated)' : '';
  const failure = call.error_code === null ? '' : ` (${call.error_code})`;
  return formatFacts(
    [
      ['Call', String(call.id)],
      ['Agent', String(agent_id)],
      ['Key', `${call.key.id} ${call.key.label} (${call.key.prefix}…)`],
      ['Model', call.model],
      ['Endpoint', `${call.endpoint}${call.stream ? ', streamed' : ''}`],
      ['Outcome', call.outcome + failure],
      ['Started', `${shortTime(call.started_at)} UTC, took ${call.duration_ms} ms`],
      ['Tokens', `${call.tokens.prompt} in, ${call.tokens.completion} out${estimated}`],
      ['Held', dollars(call.reserved_usd)],
      ['Charged', dollars(call.charge_usd)],
      ...(generation_id === null ? [] : [['Generation', generation_id] as const]),
    ],
    paint,
  );
}
