/** Where agents are made. */
export interface AdminAccess {
  /** Ends in `/admin`. */
  url: string;
  token: string;
}

export interface Agent {
  agentId: number;
  key: string;
}

const CREDIT_USD = '100000';

/** Tries for one agent: the first events of a new cluster may be late on a busy machine. */
const TRIES_MAX = 5;

/** So many agents, each with a key and with credit that no bench uses up. */
export async function prepareAgents(access: AdminAccess, wanted: number): Promise<Agent[]> {
  const agents: Agent[] = [];
  while (agents.length < wanted) agents.push(await tryAgent(access, `bench ${agents.length}`));
  return agents;
}

/** An agent of which a step was not confirmed is left behind: a step that is sent again could be done twice. */
async function tryAgent(access: AdminAccess, name: string): Promise<Agent> {
  for (let tries = 1; ; tries++) {
    try {
      return await prepareAgent(access, name);
    } catch (error) {
      if (!(error instanceof NotConfirmedError) || tries === TRIES_MAX) throw error;
    }
  }
}

class NotConfirmedError extends Error {}

async function prepareAgent(access: AdminAccess, name: string): Promise<Agent> {
  const { id } = await admin<{ id: number }>(access, '/agents', { name });
  const { key } = await admin<{ key: string }>(access, `/agents/${id}/keys`, { label: name });
  await admin(access, `/agents/${id}/grants`, { usd: CREDIT_USD });
  return { agentId: id, key };
}

async function admin<Answer>({ url, token }: AdminAccess, path: string, body: object): Promise<Answer> {
  const res = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await res.text();
  const told = `POST ${path} of the admin API answered ${res.status}: ${text}`;
  if (res.status === 503) throw new NotConfirmedError(told);
  if (!res.ok) throw new Error(told);
  return JSON.parse(text);
}
