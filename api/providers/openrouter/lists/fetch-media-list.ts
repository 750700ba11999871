import type { Provider } from '#core/catalog/catalog.ts';
import { type FetchProviderJson, ProviderAnswerError } from '#core/catalog/import-source.ts';

/** `null`: the provider has no such list, so it has no such models; many serve text alone. */
export async function fetchMediaList(
  fetchJson: FetchProviderJson,
  provider: Provider,
  path: string,
): Promise<unknown> {
  try {
    return await fetchJson(provider, path);
  } catch (error) {
    if (error instanceof ProviderAnswerError && error.status === 404) return null;
    throw error;
  }
}
