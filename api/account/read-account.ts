import type { AgentView, Ledger, Unavailable } from '#core/ledger/ledger.ts';

/** The agent of a key that was let in. One that is missing is a ledger that does not answer for it, never a poor agent. */
export async function readAccount(
  { ledger }: { ledger: Pick<Ledger, 'readAgent'> },
  agentId: number,
): Promise<AgentView | Unavailable> {
  return (await ledger.readAgent(agentId)) ?? 'unavailable';
}
