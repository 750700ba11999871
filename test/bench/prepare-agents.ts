/** What the first start writes into `<data>/demo.json`. */
export interface Demo {
  base_url: string;
  agent_id: number;
  key: string;
  admin_url: string;
  admin_token: string;
}

export interface Agent {
  agentId: number;
  key: string;
}

const CREDIT_USD = '100000';

/** The demo agent and as many more as are wanted, each with a key and with credit that no bench uses up. */
export async function prepareAgents(demo: Demo, wanted: number): Promise<Agent[]> {
  const agents: Agent[] = [{ agentId: demo.agent_id, key: demo.key }];
  while (agents.length < wanted) agents.push(await prepareAgent(demo, `bench ${agents.length}`));
  for (const { agentId } of agents) await admin(demo, `/agents/${agentId}/grants`, { usd: CREDIT_USD });
  return agents;
}

async function prepareAgent(demo: Demo, name: string): Promise<Agent> {
  const { id } = await admin<{ id: number }>(demo, '/agents', { name });
  const { key } = await admin<{ key: string }>(demo, `/agents/${id}/keys`, { label: name });
  return { agentId: id, key };
}

async function admin<Answer>(demo: Demo, path: string, body: object): Promise<Answer> {
  const res = await fetch(`${new URL(demo.admin_url).origin}/admin${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.admin_token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await res.text();
  if (!res.ok) throw new Error(`POST ${path} of the admin API answered ${res.status}: ${text}`);
  return JSON.parse(text);
}
