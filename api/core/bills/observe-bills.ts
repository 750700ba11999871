import { Gauge, type Registry } from 'prom-client';
import { toGraphUsd } from '../operator-losses.ts';
import type { BillComparison } from './bill-store.ts';
import type { BillWatch } from './bill-watch.ts';

/** Of the last daily comparison, by the operator's own name of the provider. */
export function observeBills(registry: Registry, bills: Pick<BillWatch, 'found'>): void {
  const add = (name: string, help: string, read: (comparison: BillComparison) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['provider'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [provider, comparison] of bills.found()) this.set({ provider }, read(comparison));
      },
    });
  };
  add(
    'faregate_provider_billed_usd',
    'Dollars that a provider billed between two daily looks at its bill',
    (of) => toGraphUsd(of.billedNanoUsd),
  );
  add(
    'faregate_provider_recorded_usd',
    'Dollars that calls say a provider took between two daily looks at its bill',
    (of) => toGraphUsd(of.recordedNanoUsd),
  );
  add('faregate_provider_bill_difference_usd', 'Dollars that a provider billed and no call tells of', (of) =>
    toGraphUsd(of.billedNanoUsd - of.recordedNanoUsd),
  );
  add(
    'faregate_provider_bill_compared_seconds',
    "When a provider's bill was looked at last, in seconds since 1970",
    (of) => Math.floor(of.toMs / 1_000),
  );
}
