import { z } from 'zod';
import type { Provider, ProviderKind } from '../catalog/catalog.ts';
import type { FetchProviderJson } from '../catalog/import-source.ts';
import { BALANCE_CAP_NANO_USD } from '../limits.ts';
import { attoToNanoUp, type NanoUsd, nanoToAtto, parseAttoUsd } from '../money.ts';
import type { BillAccount } from './bill-store.ts';

/** Where a provider tells what it has billed the key that we call it with. `null`: nowhere. */
const billPaths: Readonly<Record<ProviderKind, string | null>> = {
  openrouter: '/key',
  simulator: '/key',
  openai: null,
  anthropic: null,
};

const keyPage = z.object({
  data: z.object({
    usage: z.number().nonnegative(),
    /** What the operator's own keys at the vendors behind a router were billed there. */
    byok_usage: z.number().nonnegative().nullish(),
  }),
});

export interface BilledAccount extends BillAccount {
  /** The one that is asked. */
  provider: Provider;
}

/** Those whose provider has an interface for its bill, each with all that goes on the same bill. */
export function billedAccounts(providers: readonly Provider[]): BilledAccount[] {
  const byBill = Map.groupBy(providers, ({ baseUrl, apiKey }) => JSON.stringify([baseUrl, apiKey]));
  return [...byBill.values()].flatMap((sharing) => {
    const provider = sharing.find(({ kind }) => billPaths[kind] !== null);
    if (provider === undefined) return [];
    const providerIds = sharing.map(({ id }) => id).sort();
    return [{ name: providerIds.join(' '), providerIds, provider }];
  });
}

/** All that was ever billed. Throws with a sentence for the operator. */
export async function readBill({ provider }: BilledAccount, fetchJson: FetchProviderJson): Promise<NanoUsd> {
  const path = billPaths[provider.kind];
  if (path === null) throw new Error('The provider has no interface for its bill.');
  const page = keyPage.safeParse(await fetchJson(provider, path));
  // A double holds a billion dollars to less than a millionth: enough to compare.
  const amounts = page.success ? [page.data.data.usage, page.data.data.byok_usage ?? 0] : [];
  const attos = amounts.map((amount) => parseAttoUsd(String(amount)));
  const [usage, byok] = attos;
  if (usage === undefined || usage === null || byok === undefined || byok === null) throw unreadable();
  if (usage + byok > nanoToAtto(BALANCE_CAP_NANO_USD)) throw unreadable();
  return attoToNanoUp(usage + byok);
}

const unreadable = (): Error => new Error("The provider's bill cannot be read.");
