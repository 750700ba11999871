import type { MoveIn } from '../command.ts';
import { inTrade, outTradeId, parseSaleTerms } from '../machine/move.ts';
import type { LedgerState } from '../machine/state.ts';

/**
 * In embedded mode credit is moved in the process that decides: a sale whose buyer has nothing of it when a process
 * starts was cut off with the one before, and nobody may ever tell of its trade again. So it is ended at once; what its
 * buyer was given already is known for at least as long as the sale. Answers how many there were.
 */
export function endDeadMoves(state: LedgerState, nowMs: number, execute: (command: MoveIn) => void): number {
  const dead: MoveIn[] = [];
  for (const seller of state.agents.values()) {
    for (const [name, { result, detail, keptUntilMs }] of seller.trades) {
      const terms = result === 'moved_out' && keptUntilMs > nowMs ? parseSaleTerms(detail) : null;
      if (terms === null) continue;
      const { buyerAgentId, expiresAtMs, nanoUsd } = terms;
      const tradeId = outTradeId(name);
      if (state.agents.get(buyerAgentId)?.trades.has(inTrade(tradeId))) continue;
      dead.push({ type: 'move_in', agentId: buyerAgentId, tradeId, expiresAtMs, nanoUsd });
    }
  }
  for (const command of dead) execute(command);
  return dead.length;
}
