import type { MarketTrade } from '#core/events/market-trade.ts';
import type { TradeRejection } from '#core/events/rejected-trade.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Executed, Ledger } from '#core/ledger/ledger.ts';
import { checkIdentity } from '#core/ledger/machine/check-identity.ts';
import type { LogFields } from '#core/log.ts';
import { CreditMover } from '../../workers/market/credit-mover.ts';
import { day, START_MS } from '../ledger/case.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';

type Ask = (command: Command) => Promise<Executed<ResultOf<Command>>>;

export interface MoverWorld {
  clock: FakeClock;
  ledger: MemoryLedger;
  /** Every line of a log: its level, its words and its fields. */
  lines: [string, string, LogFields][];
  rejected: { tradeId: string; reason: TradeRejection }[];
  grant(agentId: number, nanoUsd: bigint, days?: number): Promise<void>;
  /** A process; `between` stands before its ledger. */
  newMover(options?: {
    between?: (ask: Ask) => Ask;
    reject?: (trade: MarketTrade, reason: TradeRejection) => Promise<void>;
  }): CreditMover;
  free(agentId: number, days?: number): bigint;
  /** Moved out − moved in, of all agents; throws where the books of one are wrong. */
  inTransit(): bigint;
}

export function createMoverWorld(): MoverWorld {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  const lines: MoverWorld['lines'] = [];
  const rejected: MoverWorld['rejected'] = [];
  const say =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      void lines.push([level, event, fields]);
  const log = { info: say('info'), warn: say('warn'), error: say('error') };
  let grants = 0;
  return {
    ...{ clock, ledger, lines, rejected },
    async grant(agentId, nanoUsd, days = 8) {
      const grantId = `grant-${++grants}`;
      const { result } = await ledger.execute({
        ...{ type: 'grant', agentId, grantId, nanoUsd },
        expiresAtMs: day(days),
      });
      if (!result.ok) throw new Error(result.reason);
    },
    newMover({ between = (ask: Ask) => ask, reject } = {}) {
      return new CreditMover({
        ledger: { execute: between((command) => ledger.execute(command)) as Ledger['execute'] },
        reject:
          reject ??
          (async ({ tradeId }, reason) => {
            rejected.push({ tradeId, reason });
          }),
        log,
      });
    },
    free(agentId, days = 8) {
      const lots = ledger.state.agents.get(agentId)?.lots ?? [];
      return lots.find(({ expiresAtMs }) => expiresAtMs === day(days))?.freeNanoUsd ?? 0n;
    },
    inTransit() {
      let sum = 0n;
      for (const agent of ledger.state.agents.values()) {
        const problem = checkIdentity(agent);
        if (problem !== null) throw new Error(`agent ${agent.agentId}: ${problem}`);
        sum += agent.movedOutNanoUsd - agent.movedInNanoUsd;
      }
      return sum;
    },
  };
}
