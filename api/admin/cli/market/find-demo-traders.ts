import { DAY_MS, isoTime, startOfDayMs } from '#core/clock.ts';
import { ADMIN_ROWS_MAX } from '#core/limits.ts';
import { formatUsd, parseNanoUsd } from '#core/money.ts';
import { TRADE_NANO_USD_MAX } from '../../../simulator/market/simulated-market.ts';
import { AgentDetail, AgentList } from '../../schemas/agent-record.ts';
import { CreditGrant } from '../../schemas/credit-grant.ts';
import type { GatewayClient } from '../gateway-client.ts';

const NAMES = ['Market demo 1', 'Market demo 2'];
/** Nobody sells more than it has bought and one trade; many of them may be on their way at a time. */
const CREDIT_NANO_USD = 100n * TRADE_NANO_USD_MAX;

/** Two agents that have credit which ends at this time: those of an earlier run, else new ones. */
export async function findDemoTraders(
  client: GatewayClient,
  nowMs: number,
  endsAtMs: number,
): Promise<number[]> {
  const known = await findByName(client);
  const ids: number[] = [];
  for (const name of NAMES) {
    const id = known.get(name);
    const agent = await (id === undefined
      ? client.post(AgentDetail, '/agents', { name, status: 'active' })
      : client.get(AgentDetail, `/agents/${id}`));
    const { expiring } = agent.value;
    const lot = expiring.find(({ at }) => at === isoTime(endsAtMs))?.usd ?? '0';
    const missing = CREDIT_NANO_USD - (parseNanoUsd(lot) ?? 0n);
    if (missing > 0n) {
      const days = (endsAtMs - startOfDayMs(nowMs)) / DAY_MS - 1;
      await client.post(CreditGrant, `/agents/${agent.value.id}/grants`, { usd: formatUsd(missing), days });
    }
    ids.push(agent.value.id);
  }
  return ids;
}

async function findByName(client: GatewayClient): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let after: number | null = 0;
  while (after !== null && found.size < NAMES.length) {
    const query: Record<string, string> = { limit: String(ADMIN_ROWS_MAX), after: String(after) };
    const { value }: { value: AgentList } = await client.get(AgentList, '/agents', query);
    for (const { id, name, token } of value.agents) {
      if (token === null && NAMES.includes(name)) found.set(name, id);
    }
    after = value.next;
  }
  return found;
}
