import { z } from 'zod';
import { createAgent } from '#core/accounts/create-agent.ts';
import { setAgentStatus } from '#core/accounts/set-agent-status.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { type ApiError, answerOrRefuse } from '../../contract/errors.ts';
import { type AdminDeps, OPERATOR_SOURCE } from '../context.ts';
import { adminExamples } from '../examples.ts';
import { readAgent, unavailable, unknownAgent } from '../refusals.ts';
import { AgentDetail, AgentList, shapeAgent, shapeAgentDetail } from '../schemas/agent-record.ts';
import { id, oneLine, rowLimit, wholeNumber } from '../schemas/values.ts';
import { audited, operatorProcedure, t } from '../trpc.ts';

const { agent, agentDetail } = adminExamples;
const ofAgent = z.strictObject({ agent_id: id() });

export const agentsRouter = t.router({
  list: operatorProcedure({
    method: 'GET',
    path: '/agents',
    operationId: 'listAgents',
    tag: 'Agents',
    summary: 'List agents',
    description: 'By id, a page at a time.',
    errors: ['invalid_request'],
    examples: { answer: { agents: [agent], next: null } },
  })
    .input(z.strictObject({ after: wholeNumber(0).optional(), limit: rowLimit() }))
    .output(AgentList)
    .query(async ({ ctx, input }) =>
      answerOrRefuse(await listAgents(ctx.deps.ledger, input.after ?? 0, input.limit ?? PAGE_ROWS)),
    ),

  create: operatorProcedure({
    method: 'POST',
    path: '/agents',
    operationId: 'createAgent',
    tag: 'Agents',
    summary: 'Create an agent',
    description: 'An account: an agent without a token. It may start calls once it has credit and a key.',
    errors: [],
    examples: { request: { name: 'demo' }, answer: agentDetail },
  })
    .input(
      z.strictObject({
        name: oneLine(),
        status: z.enum(['active', 'inactive'], { error: '"active" or "inactive"' }).default('active'),
      }),
    )
    .use(audited)
    .output(AgentDetail)
    .mutation(async ({ ctx, input }) => {
      const made = await createAgent(ctx.deps, { ...input, source: OPERATOR_SOURCE });
      return made.ok ? showAgent(ctx.deps, made.agentId) : answerOrRefuse<never>(unavailable());
    }),

  show: operatorProcedure({
    method: 'GET',
    path: '/agents/{agent_id}',
    operationId: 'getAgent',
    tag: 'Agents',
    summary: 'Show an agent',
    description: 'Its status and who says so, its credit, and what it has spent.',
    errors: ['invalid_request', 'not_found'],
    examples: { answer: agentDetail },
  })
    .input(ofAgent)
    .output(AgentDetail)
    .query(({ ctx, input }) => showAgent(ctx.deps, input.agent_id)),

  activate: statusProcedure({
    verb: 'activate',
    status: 'active',
    summary: 'Activate an agent',
    description:
      "Says for the operator that the agent is active; this also lifts the operator's own suspension. A " +
      'suspension from another source stays: see `status_by_source`.',
  }),

  suspend: statusProcedure({
    verb: 'suspend',
    status: 'suspended',
    summary: 'Suspend an agent',
    description:
      'None of its keys starts a call from now on. What runs goes on and is charged; credit stays.',
  }),
});

const PAGE_ROWS = 100;

function statusProcedure(facts: {
  verb: 'activate' | 'suspend';
  status: 'active' | 'suspended';
  summary: string;
  description: string;
}) {
  const { verb, status, summary, description } = facts;
  return operatorProcedure({
    method: 'POST',
    path: `/agents/{agent_id}/${verb}`,
    operationId: `${verb}Agent`,
    tag: 'Agents',
    summary,
    description,
    errors: ['not_found'],
    examples: { answer: { ...agentDetail, status } },
  })
    .input(ofAgent)
    .use(audited)
    .output(AgentDetail)
    .mutation(async ({ ctx, input }) => {
      const { agent_id: agentId } = input;
      const set = await setAgentStatus(ctx.deps, { agentId, source: OPERATOR_SOURCE, status });
      if (set.ok) return shapeAgentDetail(set.agent, ctx.deps.clock.now());
      return answerOrRefuse<never>(set.reason === 'unknown_agent' ? unknownAgent(agentId) : unavailable());
    });
}

async function listAgents(ledger: Ledger, after: number, limit: number): Promise<AgentList | ApiError> {
  const all = await ledger.listAgents();
  if (all === 'unavailable') return unavailable();
  const rest = all.filter((each) => each.agentId > after).sort((a, b) => a.agentId - b.agentId);
  const page = rest.slice(0, limit);
  return { agents: page.map(shapeAgent), next: rest.length > limit ? (page.at(-1)?.agentId ?? null) : null };
}

const showAgent = async ({ ledger, clock }: Pick<AdminDeps, 'ledger' | 'clock'>, agentId: number) =>
  shapeAgentDetail(await readAgent(ledger, agentId), clock.now());
