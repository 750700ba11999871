import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Provider } from './catalog.ts';
import type { ProviderSettings } from './catalog-settings.ts';
import {
  createImportSource,
  type FetchProviderJson,
  type ImportedList,
  type ImportSource,
  type ImportStatus,
  type ListKind,
} from './import-source.ts';

/** The providers' lists of one kind of models. */
export interface ImportedLists<M> {
  /** Takes changed settings at once; a provider that moved or is new has no list until it is fetched. */
  use(providers: readonly Provider[], settings: readonly ProviderSettings[]): void;
  /** In the order of the configuration. */
  lists(): (ImportedList<M> & { stale: boolean })[];
  /** A list that never came may name any id; old lists prove nothing once all of them are old. */
  mayExist(): boolean;
  refresh(): Promise<void>;
  refreshMissing(): void;
  accept(): Promise<void>;
  status(): ImportStatus[];
  close(): void;
}

interface Options<M extends { id: string }> {
  kind: ListKind<M>;
  fetchJson: FetchProviderJson;
  clock: Clock;
  log: Log;
  onChange: () => void;
}

export function createImportedLists<M extends { id: string }>(options: Options<M>): ImportedLists<M> {
  let sources = new Map<string, ImportSource<M>>();
  const all = (): ImportSource<M>[] => [...sources.values()];

  return {
    use(providers, settings) {
      const before = sources;
      sources = new Map();
      for (const provider of providers) {
        const found = settings.find((each) => each.id === provider.id);
        if (found?.catalog !== 'import') continue;
        // The key holds all that a list depends on; a provider that moved is a new source.
        const key = JSON.stringify([provider.id, provider.kind.name, provider.baseUrl]);
        const { priceJumpPpm, listMaxAgeMs } = found;
        const rules = { priceJumpPpm, listMaxAgeMs };
        const source = before.get(key) ?? createImportSource({ ...options, provider, rules });
        source.use(provider, rules);
        sources.set(key, source);
      }
      for (const [key, source] of before) if (sources.get(key) !== source) source.close();
    },
    lists: () =>
      all().flatMap((source) => {
        const list = source.list();
        return list === null ? [] : [{ ...list, stale: source.isStale() }];
      }),
    mayExist: () =>
      all().some((source) => source.list() === null) ||
      (sources.size > 0 && all().every((source) => source.isStale())),
    async refresh() {
      await Promise.all(all().map((source) => source.refresh()));
    },
    refreshMissing() {
      for (const source of all()) if (source.list() === null) void source.refresh();
    },
    async accept() {
      await Promise.all(all().map((source) => source.accept()));
    },
    status: () => all().map((source) => source.status()),
    close() {
      for (const source of all()) source.close();
    },
  };
}
