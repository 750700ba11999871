import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import type { AgentSummary, AgentView } from '#core/ledger/ledger.ts';
import { formatUsd } from '#core/money.ts';
import { Balance, shapeBalance } from '../../contract/balance.ts';
import { usdText } from '../../contract/money.ts';

const AgentStatus = z
  .enum(['active', 'inactive', 'suspended'])
  .meta({ description: 'A suspension from any source wins; else one `active` is enough.' });

const agentFields = {
  id: z.int(),
  name: z.string(),
  token: z.string().nullable().meta({ description: 'Null for an account.' }),
  status: AgentStatus,
  created_at: z.iso.datetime(),
};

export const AgentRecord = z.object(agentFields).meta({ id: 'AgentRecord' });
export type AgentRecord = z.infer<typeof AgentRecord>;

export const AgentList = z
  .object({
    agents: z.array(AgentRecord).meta({ description: 'In the order of their ids.' }),
    next: z.int().nullable().meta({ description: 'Pass it as `after` for the next page; null on the last.' }),
  })
  .meta({ id: 'AgentList' });
export type AgentList = z.infer<typeof AgentList>;

export function shapeAgent(agent: AgentSummary): AgentRecord {
  const { agentId, name, token, status, createdAtMs } = agent;
  return { id: agentId, name, token, status, created_at: isoTime(createdAtMs) };
}

const StatusSource = z
  .object({ source: z.string(), status: AgentStatus })
  .meta({ id: 'StatusSource', description: 'What one source says: the operator, a launch, the demo.' });

const balanceFields = Balance.omit({ object: true, agent: true, key_limit: true }).shape;

export const AgentDetail = z
  .object({
    ...agentFields,
    status_by_source: z.array(StatusSource),
    ...balanceFields,
    granted_usd: usdText().meta({ description: 'In all its life, as the four below.' }),
    charged_usd: usdText(),
    expired_usd: usdText(),
    moved_in_usd: usdText(),
    moved_out_usd: usdText(),
    charged_today_usd: usdText(),
    active_keys: z.int(),
  })
  .meta({ id: 'AgentDetail' });
export type AgentDetail = z.infer<typeof AgentDetail>;

/** No key: the operator looks at the agent, not at one key's limit. */
const NO_KEY = -1;

export function shapeAgentDetail(view: AgentView, nowMs: number): AgentDetail {
  const { object: _, agent: __, key_limit: ___, ...balance } = shapeBalance(view, NO_KEY, nowMs);
  return {
    ...shapeAgent(view),
    status_by_source: view.statusBySource.map(({ source, status }) => ({ source, status })),
    ...balance,
    granted_usd: formatUsd(view.grantedNanoUsd),
    charged_usd: formatUsd(view.chargedNanoUsd),
    expired_usd: formatUsd(view.expiredNanoUsd),
    moved_in_usd: formatUsd(view.movedInNanoUsd),
    moved_out_usd: formatUsd(view.movedOutNanoUsd),
    charged_today_usd: formatUsd(view.chargedTodayNanoUsd),
    active_keys: view.keys.filter((key) => key.revokedAtMs === null).length,
  };
}

export const CreditGrant = z
  .object({
    grant_id: z.string(),
    repeated: z
      .boolean()
      .meta({ description: 'True: this id was booked before, and nothing was added now.' }),
    agent: AgentDetail,
  })
  .meta({ id: 'CreditGrant' });
