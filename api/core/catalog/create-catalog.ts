import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Catalog, Provider } from './catalog.ts';
import type { CatalogSettings } from './catalog-settings.ts';
import { type CatalogSnapshot, makeSnapshot, toProvider } from './catalog-snapshot.ts';
import type { FetchProviderJson, ImportStatus } from './import-source.ts';
import { createImportedLists } from './imported-lists.ts';
import { imageModelList, modelList, videoModelList } from './list-kinds.ts';
import { findModel } from './served-models.ts';

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
  /** One entry per list that is imported: those of models first, then of video models, then of image models. */
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
  const source = { fetchJson, clock, log, onChange: () => rebuild() };
  const text = createImportedLists({ ...source, kind: modelList });
  const videos = createImportedLists({ ...source, kind: videoModelList });
  const images = createImportedLists({ ...source, kind: imageModelList });
  const kinds = [text, videos, images];
  let current = settings;
  let providers = use(settings);
  let snapshot = makeNew();

  function use(next: CatalogSettings): Provider[] {
    const found = next.providers.map((each) => toProvider(each, bundledSimulatorUrl));
    for (const kind of kinds) kind.use(found, next.providers);
    return found;
  }

  function makeNew(): CatalogSnapshot {
    const lists = { text: text.lists(), videos: videos.lists(), images: images.lists() };
    return makeSnapshot(current, providers, lists);
  }

  function rebuild(): void {
    snapshot = makeNew();
  }

  return {
    find: (modelId) => findModel(snapshot.text, modelId, text.mayExist),
    models: () => snapshot.text.models,
    findVideoModel: (modelId) => findModel(snapshot.videos, modelId, videos.mayExist),
    videoModels: () => snapshot.videos.models,
    findImageModel: (modelId) => findModel(snapshot.images, modelId, images.mayExist),
    imageModels: () => snapshot.images.models,
    provider: (providerId) => snapshot.providersById.get(providerId),
    providers: () => snapshot.providers,
    gatewayStopped: () => snapshot.stopped,
    async refresh() {
      await Promise.all(kinds.map((kind) => kind.refresh()));
    },
    async acceptPrices() {
      await Promise.all(kinds.map((kind) => kind.accept()));
    },
    apply(next) {
      current = next;
      providers = use(next);
      rebuild();
      for (const kind of kinds) kind.refreshMissing();
    },
    status: () => kinds.flatMap((kind) => kind.status()),
    close() {
      for (const kind of kinds) kind.close();
    },
  };
}
