import { isoTime } from '#core/clock.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import { formatUsd } from '#core/money.ts';
import { auditAgent } from './audit-agent.ts';
import { AUDIT_PROBLEMS_MAX, type AuditReport } from './schemas/audit-report.ts';

/** Agents that an audit reads at one time, so that it neither waits for each nor floods the ledger. */
const AUDIT_AGENTS_AT_ONCE = 100;

/** Every agent, each as it is at one moment of its own: calls go on while the audit runs. */
export async function auditLedger(
  ledger: Pick<Ledger, 'listAgents' | 'readAgent'>,
  nowMs: number,
): Promise<AuditReport | 'unavailable'> {
  const agents = await ledger.listAgents();
  if (agents === 'unavailable') return 'unavailable';
  const tally = new Tally();
  for (let i = 0; i < agents.length; i += AUDIT_AGENTS_AT_ONCE) {
    const some = agents.slice(i, i + AUDIT_AGENTS_AT_ONCE);
    const views = await Promise.all(some.map(({ agentId }) => ledger.readAgent(agentId)));
    for (const [index, view] of views.entries()) {
      if (view === 'unavailable') return 'unavailable';
      if (view === null) tally.note(some[index]?.agentId ?? 0, ['It is listed, but cannot be read.']);
      else tally.add(view, auditAgent(view, nowMs));
    }
  }
  return tally.report();
}

class Tally {
  readonly #totals = {
    granted_usd: 0n,
    moved_in_usd: 0n,
    free_usd: 0n,
    held_usd: 0n,
    charged_usd: 0n,
    expired_usd: 0n,
    moved_out_usd: 0n,
  };
  readonly #problems: AuditReport['problems'] = [];
  #problemsFound = 0;
  #agents = 0;
  #keys = 0;
  #holds = 0;
  #pending = 0;
  #oldestMs = Number.POSITIVE_INFINITY;

  add(view: AgentView, problems: readonly string[]): void {
    this.note(view.agentId, problems);
    this.#agents += 1;
    this.#keys += view.keys.length;
    const totals = this.#totals;
    totals.granted_usd += view.grantedNanoUsd;
    totals.moved_in_usd += view.movedInNanoUsd;
    totals.charged_usd += view.chargedNanoUsd;
    totals.expired_usd += view.expiredNanoUsd;
    totals.moved_out_usd += view.movedOutNanoUsd;
    for (const lot of view.lots) totals.free_usd += lot.freeNanoUsd;
    for (const hold of view.holds) {
      totals.held_usd += hold.nanoUsd;
      this.#holds += 1;
      if (hold.pending !== null) this.#pending += 1;
      this.#oldestMs = Math.min(this.#oldestMs, hold.startedAtMs);
    }
  }

  note(agentId: number, problems: readonly string[]): void {
    this.#problemsFound += problems.length;
    for (const problem of problems) {
      if (this.#problems.length < AUDIT_PROBLEMS_MAX) this.#problems.push({ agent_id: agentId, problem });
    }
  }

  report(): AuditReport {
    const totals = this.#totals;
    return {
      ok: this.#problemsFound === 0,
      agents: this.#agents,
      keys: this.#keys,
      totals: {
        granted_usd: formatUsd(totals.granted_usd),
        moved_in_usd: formatUsd(totals.moved_in_usd),
        free_usd: formatUsd(totals.free_usd),
        held_usd: formatUsd(totals.held_usd),
        charged_usd: formatUsd(totals.charged_usd),
        expired_usd: formatUsd(totals.expired_usd),
        moved_out_usd: formatUsd(totals.moved_out_usd),
        in_transit_usd: formatUsd(totals.moved_out_usd - totals.moved_in_usd),
      },
      holds: {
        open: this.#holds,
        pending: this.#pending,
        usd: formatUsd(totals.held_usd),
        oldest_started_at: this.#holds === 0 ? null : isoTime(this.#oldestMs),
      },
      problems_found: this.#problemsFound,
      problems: this.#problems,
    };
  }
}
