import type { Catalog } from '../catalog/catalog.ts';
import type { FetchProviderJson } from '../catalog/import-source.ts';
import type { TokenCounts } from '../events/ledger-event.ts';
import type { AttoUsd } from '../money.ts';

/** What the provider's own record says of one answer. */
export interface LookedUpPrice {
  /** Dollars it charged us, without the operator's margin. */
  attoUsd: AttoUsd;
  tokens: TokenCounts | null;
}

/** `null`: not there yet, not reachable, or not plausible. The caller asks again for as long as it is worth it. */
export type LookUpPrice = (providerId: string, generationId: string) => Promise<LookedUpPrice | null>;

/** Asks the provider, if it keeps such records. */
export function createLookUpPrice(catalog: Catalog, fetchJson: FetchProviderJson): LookUpPrice {
  return async (providerId, generationId) => {
    const provider = catalog.provider(providerId);
    const record = provider?.kind.price ?? null;
    if (provider === undefined || record === null) return null;
    try {
      return record.read(await fetchJson(provider, record.path(generationId)));
    } catch {
      return null;
    }
  };
}
