import { formatUsd, type NanoUsd } from '#core/money.ts';
import type { GatewayUnderTest, Money } from './gateway.ts';
import type { LoadResult } from './load.ts';
import type { Report } from './report.ts';

/** After every run: no hold is left, and what left the balances is what the callers were shown, to the nano-dollar. */
export interface MoneyCheck {
  begin(): Promise<void>;
  end(run: string, loads: readonly LoadResult[]): Promise<void>;
}

export function createMoneyCheck(gateway: GatewayUnderTest, report: Report): MoneyCheck {
  let before: Money | null = null;
  return {
    async begin() {
      before = await gateway.settledMoney();
    },
    async end(run, loads) {
      if (before === null) return;
      const after = await gateway.settledMoney();
      const charged = before.balanceNanoUsd - after.balanceNanoUsd;
      const shown = loads.reduce<NanoUsd>((sum, load) => sum + load.shownNanoUsd, 0n);
      const failed = loads.reduce((sum, load) => sum + load.failed, 0);
      const calls = loads.reduce((sum, load) => sum + load.calls, 0);
      report.verdict({
        bar: `${run}: charges = usage.cost shown, no hold left, no call failed`,
        measured:
          `$${formatUsd(charged)} of $${formatUsd(shown)} for ${calls} calls, ` +
          `$${formatUsd(after.reservedNanoUsd)} held by ${after.runningCalls}, ${failed} failed`,
        met: charged === shown && after.reservedNanoUsd === 0n && after.runningCalls === 0 && failed === 0,
      });
    },
  };
}
