import { existsSync, readFileSync } from 'node:fs';
import type { CallRecord } from '#core/calls/call-record.ts';
import type { EmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import type { AgentView } from '#core/ledger/ledger.ts';
import type { NanoUsd } from '#core/money.ts';

/** What a client was told, and may rely on from then on. */
export type Told =
  | { what: 'granted'; agentId: number; grantId: string; nanoUsd: NanoUsd; expiresAtMs: number }
  | { what: 'started'; agentId: number; callId: number }
  | { what: 'charged'; agentId: number; callId: number; nanoUsd: NanoUsd }
  | { what: 'key'; agentId: number; keyId: number; hash: string }
  | { what: 'key_revoked'; agentId: number; hash: string };

/**
 * Compares a ledger that has just started after a crash with what was told before it. Answers what is wrong in
 * words: nothing told is lost or changed, nothing is charged twice, every agent's money adds up, and no hold is left
 * that nobody will end.
 */
export async function compareTold(ledger: EmbeddedLedger, told: readonly Told[]): Promise<string[]> {
  const problems: string[] = [];
  const agents = await ledger.listAgents();
  if (agents === 'unavailable') return ['the ledger is not open'];
  for (const { agentId } of agents) {
    const view = await ledger.readAgent(agentId);
    if (view === null || view === 'unavailable') return [...problems, `agent ${agentId} cannot be read`];
    problems.push(...(await checkAgent(ledger, view)));
  }
  const views = new Map<number, AgentView>();
  for (const fact of told) {
    let view = views.get(fact.agentId);
    if (view === undefined) {
      const read = await ledger.readAgent(fact.agentId);
      if (read === null || read === 'unavailable') {
        problems.push(`agent ${fact.agentId} is gone`);
        continue;
      }
      view = read;
      views.set(fact.agentId, view);
    }
    const problem = await checkFact(ledger, view, fact);
    if (problem !== null) problems.push(`${problem} (${JSON.stringify(fact, bigints)})`);
  }
  return problems;
}

async function checkAgent(ledger: EmbeddedLedger, view: AgentView): Promise<string[]> {
  const { agentId, lots, holds } = view;
  const problems: string[] = [];
  const free = lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n);
  const held = lots.reduce((sum, lot) => sum + lot.heldNanoUsd, 0n);
  const came = view.grantedNanoUsd + view.movedInNanoUsd;
  const went = view.chargedNanoUsd + view.expiredNanoUsd + view.movedOutNanoUsd;
  if (came !== free + held + went)
    problems.push(`agent ${agentId}: ${came} came, ${free + held + went} is there`);
  if (lots.some((lot) => lot.freeNanoUsd < 0n || lot.heldNanoUsd < 0n))
    problems.push(`agent ${agentId}: below zero`);
  if (holds.reduce((sum, hold) => sum + hold.nanoUsd, 0n) !== held)
    problems.push(`agent ${agentId}: holds differ`);
  const stuck = holds.filter((hold) => hold.pending === null && hold.kind !== 'video');
  if (stuck.length > 0) problems.push(`agent ${agentId}: ${stuck.length} holds are stuck`);
  const calls = await allCalls(ledger, agentId);
  const charged = calls.reduce((sum, call) => sum + call.chargedNanoUsd, 0n);
  if (charged !== view.chargedNanoUsd) {
    problems.push(`agent ${agentId}: charged ${view.chargedNanoUsd}, its calls ${charged}`);
  }
  const range = { agentId, fromDay: '1970-01-01', toDay: '9999-12-31' };
  const usage = await ledger.history.usage(range);
  if (usage === 'unavailable') return [...problems, 'usage cannot be read'];
  const used = usage.reduce((sum, row) => sum + row.chargedNanoUsd, 0n);
  if (used !== charged) problems.push(`agent ${agentId}: its calls ${charged}, its usage ${used}`);
  const counted = usage.reduce((sum, row) => sum + row.calls, 0);
  const settled = calls.filter((call) => call.outcome !== 'pending').length;
  if (counted !== settled) problems.push(`agent ${agentId}: ${settled} calls ended, ${counted} in its usage`);
  return problems;
}

const PAGE = 1_000;

async function allCalls(ledger: EmbeddedLedger, agentId: number): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  for (;;) {
    const beforeCallId = calls.at(-1)?.callId;
    const page = await ledger.history.list({
      agentId,
      limit: PAGE,
      ...(beforeCallId === undefined ? {} : { beforeCallId }),
    });
    if (page === 'unavailable') throw new Error('the history cannot be read');
    calls.push(...page);
    if (page.length < PAGE) return calls;
  }
}

async function checkFact(ledger: EmbeddedLedger, view: AgentView, fact: Told): Promise<string | null> {
  switch (fact.what) {
    case 'granted': {
      const { agentId, grantId, nanoUsd, expiresAtMs } = fact;
      const { result } = await ledger.execute({ type: 'grant', agentId, grantId, nanoUsd, expiresAtMs });
      return result.ok && result.repeated ? null : 'a grant was lost';
    }
    case 'started': {
      if (view.holds.some((hold) => hold.callId === fact.callId)) return null;
      const record = await ledger.history.find(fact.callId);
      return record === null || record === 'unavailable' ? 'a call was lost' : null;
    }
    case 'charged': {
      const record = await ledger.history.find(fact.callId);
      if (record === null || record === 'unavailable') return 'a charge was lost';
      if (record.chargedNanoUsd !== fact.nanoUsd || record.outcome === 'pending')
        return 'a charge has changed';
      return view.holds.some((hold) => hold.callId === fact.callId) ? 'a charged call is open again' : null;
    }
    case 'key': {
      const found = await ledger.findKey([fact.hash]);
      if (found === 'unavailable' || !found.found) return 'a key was lost';
      return found.keyId === fact.keyId && found.agentId === fact.agentId ? null : 'a key has another owner';
    }
    case 'key_revoked': {
      const found = await ledger.findKey([fact.hash]);
      return found !== 'unavailable' && found.found && found.revoked ? null : 'a revoked key works again';
    }
    default:
      return fact satisfies never;
  }
}

/** Facts as lines: amounts are written as `12n`. */
export const toLine = (fact: Told): string => `${JSON.stringify(fact, bigints)}\n`;

/** The facts in a file of such lines; one that the writer's death has cut off was told to nobody. */
export function readTold(file: string): Told[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line, revive) as Told);
}

const bigints = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
const revive = (_: string, value: unknown): unknown =>
  typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
