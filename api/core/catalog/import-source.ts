import type { Clock, Timer } from '../clock.ts';
import { CATALOG_REFRESH_MS, CATALOG_RETRY_MS, CATALOG_STALE_MS } from '../limits.ts';
import type { Provider } from './catalog.ts';
import { holdBackJumps } from './hold-back-jumps.ts';
import { type ImportedList, importModels } from './import-models.ts';

/**
 * Reads `path` below a provider's address and answers the parsed JSON; throws an `Error` an operator may
 * read.
 */
export type FetchProviderJson = (provider: Provider, path: string) => Promise<unknown>;

export interface ImportStatus {
  providerId: string;
  /** `null`: its list has never arrived. */
  lastSuccessAtMs: number | null;
  /** `null`: the newest attempt was good, or none has ended yet. */
  lastError: { message: string; atMs: number } | null;
  servedModels: number;
  notServedModels: number;
  /** Ids whose price jumped: they are served at the old one. */
  heldBack: readonly string[];
}

/** One provider's list, fetched now and every hour. A failed fetch keeps the last good list. */
export interface ImportSource {
  list(): ImportedList | null;
  status(): ImportStatus;
  isStale(): boolean;
  /** The same provider with another key or switch. */
  use(provider: Provider, priceJumpPpm: bigint): void;
  /** Joins the fetch that is under way, if any. Never rejects: what went wrong stands in `status()`. */
  refresh(): Promise<void>;
  /** The same, and prices count as they come: the operator has looked at them. */
  accept(): Promise<void>;
  close(): void;
}

interface Options {
  provider: Provider;
  priceJumpPpm: bigint;
  fetchJson: FetchProviderJson;
  clock: Clock;
  onList: () => void;
}

export function createImportSource({
  provider,
  priceJumpPpm,
  fetchJson,
  clock,
  onList,
}: Options): ImportSource {
  let current = provider;
  let jumpPpm = priceJumpPpm;
  let heldBack: readonly string[] = [];
  let list: ImportedList | null = null;
  let lastSuccessAtMs: number | null = null;
  let lastError: ImportStatus['lastError'] = null;
  let running: Promise<void> | null = null;
  let timer: Timer | null = null;
  let closed = false;

  async function fetchOnce(mayJump: boolean): Promise<void> {
    const found = await attempt();
    // Closed means replaced: a late answer of the old address must not count for the new one.
    if (closed) return;
    if (typeof found === 'string') {
      lastError = { message: found, atMs: clock.now() };
    } else {
      const held = holdBackJumps(mayJump ? null : list, found, jumpPpm);
      list = held.list;
      heldBack = held.heldBack;
      lastSuccessAtMs = clock.now();
      lastError = null;
      onList();
    }
    timer?.cancel();
    timer = clock.setTimer(lastError === null ? CATALOG_REFRESH_MS : CATALOG_RETRY_MS, () => void refresh());
  }

  async function attempt(): Promise<ImportedList | string> {
    try {
      const answer = await fetchJson(current, '/models');
      return (
        importModels(answer, current.id, clock.now()) ?? 'The answer is no list of models that can be served.'
      );
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  function refresh(mayJump = false): Promise<void> {
    running ??= fetchOnce(mayJump).finally(() => {
      running = null;
    });
    return running;
  }

  return {
    list: () => list,
    status: () => ({
      providerId: current.id,
      lastSuccessAtMs,
      lastError,
      servedModels: list?.models.length ?? 0,
      notServedModels: list?.notServed.length ?? 0,
      heldBack,
    }),
    isStale: () => lastSuccessAtMs === null || clock.now() - lastSuccessAtMs > CATALOG_STALE_MS,
    use(next, nextJumpPpm) {
      current = next;
      jumpPpm = nextJumpPpm;
    },
    refresh: () => refresh(),
    async accept() {
      // One that began before the operator looked holds back.
      await running;
      await refresh(true);
    },
    close() {
      closed = true;
      timer?.cancel();
    },
  };
}
