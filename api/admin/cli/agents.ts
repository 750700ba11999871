import type { Command } from 'commander';
import { AgentDetail, AgentList, type AgentRecord } from '../schemas/agent-record.ts';
import { addExamples, dollars, type OpenContext, parseId, shortTime } from './cli-context.ts';
import { formatFacts, formatTable, type Paint, type Style } from './terminal.ts';

export function addAgents(program: Command, open: OpenContext): void {
  const agents = program.command('agents').description('who may call');

  agents
    .command('create <name>')
    .description('make an account: an agent without a token')
    .option('--inactive', 'it starts no calls until you activate it')
    .action(async (name: string, options: { inactive?: true }) => {
      const { client, showAnswer } = open();
      const status = options.inactive ? 'inactive' : 'active';
      const answer = await client.post(AgentDetail, '/agents', { name, status });
      showAnswer(answer, (made, paint) => [`Made agent ${made.id}.`, '', ...agentLines(made, paint)]);
    });

  agents
    .command('list')
    .description('all agents, a page at a time')
    .option('--limit <rows>', 'at most so many', '100')
    .option('--after <id>', 'only those after this one')
    .action(async ({ limit, after }: { limit: string; after?: string }) => {
      const { client, showAnswer } = open();
      const answer = await client.get(AgentList, '/agents', { limit, after });
      showAnswer(answer, (page, paint) => [
        ...formatTable(page.agents, columns, paint),
        ...(page.next === null ? [] : ['', `More: agents list --limit ${limit} --after ${page.next}`]),
      ]);
    });

  agents
    .command('show')
    .argument('<agent>', 'its id', parseId)
    .description("an agent's status, credit and spending")
    .action(async (id: string) => {
      const { client, showAnswer } = open();
      showAnswer(await client.get(AgentDetail, `/agents/${id}`), agentLines);
    });

  agents
    .command('activate')
    .argument('<agent>', 'its id', parseId)
    .description('let its keys start calls; lifts your own suspension')
    .action(async (id: string) => {
      const { client, showAnswer } = open();
      showAnswer(await client.post(AgentDetail, `/agents/${id}/activate`), agentLines);
    });

  agents
    .command('suspend')
    .argument('<agent>', 'its id', parseId)
    .option('--yes', 'do not ask')
    .description('none of its keys starts a call any more; running calls finish')
    .action(async (id: string, { yes }: { yes?: true }) => {
      const { client, showAnswer, confirm } = open();
      if (!yes) {
        const { value } = await client.get(AgentDetail, `/agents/${id}`);
        await confirm(`Suspend agent ${id} (${value.name}, ${value.running_calls} running calls)?`);
      }
      showAnswer(await client.post(AgentDetail, `/agents/${id}/suspend`), agentLines);
    });

  addExamples(agents, {
    "agents create 'My agent'": 'an account; it needs credit and a key',
    'agents list --limit 20': 'the first twenty',
    'agents show 2 --json': 'one, for programs',
    'agents suspend 2 --yes': 'at once, from a script',
  });
}

const columns = [
  { title: 'ID', text: (agent: AgentRecord) => String(agent.id), right: true as const },
  { title: 'NAME', text: (agent: AgentRecord) => agent.name },
  { title: 'TOKEN', text: (agent: AgentRecord) => agent.token ?? '-' },
  {
    title: 'STATUS',
    text: (agent: AgentRecord) => agent.status,
    style: (agent: AgentRecord) => statusStyles[agent.status],
  },
  { title: 'CREATED', text: (agent: AgentRecord) => shortTime(agent.created_at) },
];

const statusStyles: Record<AgentRecord['status'], Style> = {
  active: 'green',
  inactive: 'yellow',
  suspended: 'red',
};

export function agentLines(agent: AgentDetail, paint: Paint): string[] {
  const said = agent.status_by_source.map(({ source, status }) => `${source}: ${status}`).join(', ');
  return [
    ...formatFacts(
      [
        ['Agent', `${agent.id} ${agent.name}${agent.token === null ? '' : ` (${agent.token})`}`],
        ['Status', said === '' ? agent.status : `${agent.status} (${said})`],
        ['Spendable', dollars(agent.spendable_usd)],
        ['Held', `${dollars(agent.reserved_usd)} by ${agent.running_calls} running calls`],
        ['Charged', `${dollars(agent.charged_usd)}, today ${dollars(agent.charged_today_usd)}`],
        ['Granted', dollars(agent.granted_usd)],
        ['Expired', dollars(agent.expired_usd)],
        ['Moved', `in ${dollars(agent.moved_in_usd)}, out ${dollars(agent.moved_out_usd)}`],
        ['Active keys', String(agent.active_keys)],
        ['Created', shortTime(agent.created_at)],
      ],
      paint,
    ),
    ...agent.expiring.map(({ at, usd }) => `${dollars(usd)} ends on ${shortTime(at)} UTC`),
  ];
}
