import { Counter, Histogram, type Registry } from 'prom-client';
import type { NanoUsd } from '#core/money.ts';
import { type CountLoss, createOperatorLosses, toGraphUsd } from '#core/operator-losses.ts';
import { readMetrics } from '#core/read-metrics.ts';

/** Low-cardinality labels only: no agent, no key, no model. */
export interface CallMetrics {
  started(): void;
  refused(code: string): void;
  ended(outcome: string, code: string | null, holdNanoUsd: NanoUsd, chargedNanoUsd: NanoUsd): void;
  /** A call that ended as `pending` has its price. */
  priced(chargedNanoUsd: NanoUsd): void;
  loss: CountLoss;
  /** From the request's last byte to the provider's socket, plus from its first byte to the caller's. */
  added(ms: number): void;
  /** From the provider's socket to its first byte. */
  provider(ms: number): void;
}

const MS_BUCKETS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024];
const PROVIDER_MS_BUCKETS = [5, 20, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000, 300_000];

export function createCallMetrics(registry: Registry): CallMetrics {
  const registers = [registry];
  const totals = { started: 0, heldUsd: 0, chargedUsd: 0 };
  const { counter } = readMetrics(registry);
  counter('faregate_calls_started_total', 'Calls that hold money', () => totals.started);
  counter('faregate_held_usd_total', 'Dollars held for calls that ended', () => totals.heldUsd);
  counter('faregate_charged_usd_total', 'Dollars charged', () => totals.chargedUsd);
  const ended = new Counter({
    name: 'faregate_calls_ended_total',
    help: 'Calls that ended, by outcome and error code',
    labelNames: ['outcome', 'code'],
    registers,
  });
  const refused = new Counter({
    name: 'faregate_calls_refused_total',
    help: 'Calls refused before anything was held, by code',
    labelNames: ['code'],
    registers,
  });
  const loss = createOperatorLosses(registry);
  const added = new Histogram({
    name: 'faregate_added_latency_ms',
    help: 'Time to the first byte that the gateway added',
    buckets: MS_BUCKETS,
    registers,
  });
  const provider = new Histogram({
    name: 'faregate_provider_first_byte_ms',
    help: 'Time that the provider took to its first byte',
    buckets: PROVIDER_MS_BUCKETS,
    registers,
  });

  return {
    started() {
      totals.started++;
    },
    refused: (code) => refused.inc({ code }),
    ended(outcome, code, holdNanoUsd, chargedNanoUsd) {
      totals.heldUsd += toGraphUsd(holdNanoUsd);
      totals.chargedUsd += toGraphUsd(chargedNanoUsd);
      ended.inc({ outcome, code: code ?? '' });
    },
    priced(chargedNanoUsd) {
      totals.chargedUsd += toGraphUsd(chargedNanoUsd);
    },
    loss,
    added: (ms) => added.observe(ms),
    provider: (ms) => provider.observe(ms),
  };
}
