import { Counter, type Registry } from 'prom-client';
import type { NanoUsd } from './money.ts';

/** Why the operator paid for something that no agent was charged for. */
export const LOSS_CAUSES = [
  'cost_above_hold',
  'free_failure',
  'failed_fallback',
  'gate_timeout',
  'orphan',
  'crash',
  // Nobody told: nothing was charged, or an estimate was.
  'price_unknown',
  'price_estimated',
] as const;

export type LossCause = (typeof LOSS_CAUSES)[number];

/** `nanoUsd` is 0 where nobody knows how much it was; the call counts all the same. */
export type CountLoss = (cause: LossCause, nanoUsd: NanoUsd) => void;

export function createOperatorLosses(registry: Registry): CountLoss {
  const byCause = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['cause'], registers: [registry] });
  const losses = byCause(
    'faregate_operator_loss_usd_total',
    'Dollars that providers billed and no agent paid, by cause',
  );
  const calls = byCause('faregate_operator_loss_calls_total', 'Calls that cost the operator money, by cause');
  // An alert sees a rise only from a value that was there before it.
  for (const cause of LOSS_CAUSES) {
    losses.inc({ cause }, 0);
    calls.inc({ cause }, 0);
  }
  return (cause, nanoUsd) => {
    calls.inc({ cause });
    losses.inc({ cause }, toGraphUsd(nanoUsd));
  };
}

/** Dollars as a float are fine for a graph's value and nowhere else. */
export const toGraphUsd = (nanoUsd: NanoUsd): number => Number(nanoUsd) / 1e9;
