import { executeDurably } from '#core/accounts/execute-durably.ts';
import { agentChange } from '#core/events/agent-change.ts';
import { type HandleRecord, parseFeedRecord } from '#core/events/feed-record.ts';
import type { Ledger } from '#core/ledger/ledger.ts';

/** Takes over a record of `agents.v1`. Old and repeated ones change nothing: each source counts its versions. */
export const createApplyAgentChange =
  (ledger: Pick<Ledger, 'execute'>): HandleRecord =>
  async (bytes) => {
    const parsed = parseFeedRecord(agentChange, bytes);
    if (!parsed.ok) return { outcome: 'dead_letter', reason: parsed.reason };
    const { agentId, source, version, status, name, token } = parsed.record;
    const result = await executeDurably(ledger, {
      type: 'set_agent',
      mode: 'upsert',
      agentId,
      source,
      sourceVersion: version,
      status,
      name,
      token,
    });
    if (result.ok) return { outcome: 'done' };
    return result.reason === 'unavailable'
      ? { outcome: 'try_again' }
      : { outcome: 'dead_letter', reason: `the ledger refuses the change: ${result.reason}` };
  };
