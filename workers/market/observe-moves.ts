import type { Registry } from 'prom-client';
import { toGraphUsd } from '#core/operator-losses.ts';
import { readMetrics } from '#core/read-metrics.ts';
import type { CreditMover } from './credit-mover.ts';

/** What operators see of credit that changes hands. */
export function observeMoves(
  registry: Registry,
  mover: Pick<CreditMover, 'counts' | 'inTransitNanoUsd'>,
): void {
  const { gauge, counter } = readMetrics(registry);
  gauge(
    'faregate_credit_in_transit_usd',
    'Dollars that have left their sellers and not yet come to their buyers, in this process',
    () => toGraphUsd(mover.inTransitNanoUsd),
  );
  counter('faregate_market_moves_total', 'Trades whose credit was moved', () => mover.counts.moved);
  counter('faregate_trades_rejected_total', 'Trades that have moved nothing', () => mover.counts.rejected);
  counter(
    'faregate_market_expired_usd_total',
    'Dollars of bought credit that expired as they came in: it had ended, or its buyer was at the cap',
    () => toGraphUsd(mover.counts.expiredNanoUsd),
  );
}
