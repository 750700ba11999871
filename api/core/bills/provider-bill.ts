import type { Provider } from '../catalog/catalog.ts';
import type { FetchProviderJson } from '../catalog/import-source.ts';
import type { NanoUsd } from '../money.ts';
import type { BillAccount } from './bill-store.ts';

export interface BilledAccount extends BillAccount {
  /** The one that is asked. */
  provider: Provider;
}

/** Those whose provider has an interface for its bill, each with all that goes on the same bill. */
export function billedAccounts(providers: readonly Provider[]): BilledAccount[] {
  const byBill = Map.groupBy(providers, ({ baseUrl, apiKey }) => JSON.stringify([baseUrl, apiKey]));
  return [...byBill.values()].flatMap((sharing) => {
    const provider = sharing.find(({ kind }) => kind.bill !== null);
    if (provider === undefined) return [];
    const providerIds = sharing.map(({ id }) => id).sort();
    return [{ name: providerIds.join(' '), providerIds, provider }];
  });
}

/** All that was ever billed. Throws with a sentence for the operator. */
export async function readBill({ provider }: BilledAccount, fetchJson: FetchProviderJson): Promise<NanoUsd> {
  const { bill } = provider.kind;
  if (bill === null) throw new Error('The provider has no interface for its bill.');
  const billed = bill.read(await fetchJson(provider, bill.path));
  if (billed === null) throw new Error("The provider's bill cannot be read.");
  return billed;
}
