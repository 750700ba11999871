import type { Clock } from '../clock.ts';
import { MODEL_ID_CHARS_MAX } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { CatalogSettings } from './catalog-settings.ts';
import { makeSnapshot, toProvider } from './catalog-snapshot.ts';
import type { ImportedList } from './import-models.ts';
import {
  createImportSource,
  type FetchProviderJson,
  type ImportSource,
  type ImportStatus,
} from './import-source.ts';

/**
 * The catalogue that a process serves from: settings of the operator and lists of the providers, kept fresh.
 */
export interface LiveCatalog extends Catalog {
  /**
   * Fetches every provider's list, now and, after the first time, by the clock. Settles when each has come or
   * failed and never rejects; a call that arrives earlier finds `unavailable`, so nobody has to wait for it.
   */
  refresh(): Promise<void>;
  /** The same, and prices count as they come, however far they moved. */
  acceptPrices(): Promise<void>;
  /** Takes changed settings at once; lists of providers that are new are fetched in the background. */
  apply(settings: CatalogSettings): void;
  /** One entry per provider whose list is imported. */
  status(): readonly ImportStatus[];
  close(): void;
}

interface Options {
  settings: CatalogSettings;
  clock: Clock;
  log: Log;
  fetchJson: FetchProviderJson;
  /**
   * Where the simulator of this process listens, for providers without an address; `null` where none runs.
   */
  bundledSimulatorUrl: string | null;
}

export function createCatalog({
  settings,
  clock,
  log,
  fetchJson,
  bundledSimulatorUrl,
}: Options): LiveCatalog {
  let current = settings;
  let providers = settings.providers.map((each) => toProvider(each, bundledSimulatorUrl));
  let sources = matchSources(new Map());
  let snapshot = makeSnapshot(current, providers, lists());

  function matchSources(known: ReadonlyMap<string, ImportSource>): Map<string, ImportSource> {
    const matched = new Map<string, ImportSource>();
    for (const provider of providers) {
      const settings = current.providers.find((each) => each.id === provider.id);
      if (settings?.catalog !== 'import') continue;
      // The key holds all that a list depends on; a provider that moved is a new source.
      const key = JSON.stringify([provider.id, provider.kind, provider.baseUrl]);
      const { priceJumpPpm, listMaxAgeMs } = settings;
      const rules = { priceJumpPpm, listMaxAgeMs };
      const source =
        known.get(key) ?? createImportSource({ provider, rules, fetchJson, clock, log, onChange: rebuild });
      source.use(provider, rules);
      matched.set(key, source);
    }
    return matched;
  }

  function lists(): Map<string, ImportedList & { stale: boolean }> {
    const found = new Map<string, ImportedList & { stale: boolean }>();
    for (const source of sources.values()) {
      const list = source.list();
      if (list !== null) found.set(source.status().providerId, { ...list, stale: source.isStale() });
    }
    return found;
  }

  function rebuild(): void {
    snapshot = makeSnapshot(current, providers, lists());
  }

  /** A list that never came may name any id; old lists prove nothing once all of them are old. */
  function mayExist(): boolean {
    const all = [...sources.values()];
    return (
      all.some((source) => source.list() === null) ||
      (all.length > 0 && all.every((source) => source.isStale()))
    );
  }

  function find(modelId: string): CatalogEntry {
    const { served, outdated, notServed, nearest } = snapshot;
    const model = served.get(modelId);
    if (model !== undefined) return { status: 'served', model };
    if (outdated.has(modelId)) return { status: 'unavailable' };
    if (notServed.has(modelId)) return { status: 'not_served' };
    if (modelId.length > MODEL_ID_CHARS_MAX) return { status: 'unknown', nearest: [] };
    if (mayExist()) return { status: 'unavailable' };
    return {
      status: 'unknown',
      // Searched only when a message is written: ids with a steering suffix miss here on every call.
      get nearest() {
        return nearest(modelId);
      },
    };
  }

  return {
    find,
    models: () => snapshot.models,
    provider: (providerId) => snapshot.providersById.get(providerId),
    providers: () => snapshot.providers,
    gatewayStopped: () => snapshot.stopped,
    async refresh() {
      await Promise.all([...sources.values()].map((source) => source.refresh()));
    },
    async acceptPrices() {
      await Promise.all([...sources.values()].map((source) => source.accept()));
    },
    apply(next) {
      const before = sources;
      providers = next.providers.map((each) => toProvider(each, bundledSimulatorUrl));
      current = next;
      sources = matchSources(before);
      rebuild();
      for (const [key, source] of before) if (sources.get(key) !== source) source.close();
      for (const source of sources.values()) if (source.list() === null) void source.refresh();
    },
    status: () => [...sources.values()].map((source) => source.status()),
    close() {
      for (const source of sources.values()) source.close();
    },
  };
}
