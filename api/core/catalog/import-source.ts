import type { Clock, Timer } from '../clock.ts';
import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import type { AttoUsd } from '../money.ts';
import type { Provider } from './catalog.ts';
import { holdBackJumps } from './hold-back-jumps.ts';

/** How often a provider's list is fetched. */
const CATALOG_REFRESH_MS = HOUR_MS;
/** How soon it is fetched again after a failure. */
const CATALOG_RETRY_MS = MINUTE_MS;

/**
 * Reads `path` below a provider's address and answers the parsed JSON; throws an `Error` an operator may
 * read.
 */
export type FetchProviderJson = (provider: Provider, path: string) => Promise<unknown>;

/** What came is no answer to the question. */
export class ProviderAnswerError extends Error {
  override readonly name = 'ProviderAnswerError';
  /** Of the answer, where it was not 200. */
  readonly status: number | null;

  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

/** A provider's list, read: what can be served, and the ids that exist but are not for us. */
export interface ImportedList<M> {
  /** Prices as the provider states them, without the operator's margin. */
  models: readonly M[];
  notServed: readonly string[];
}

/** One kind of models: where its list is, and what of an entry is a price. */
export interface ListKind<M extends { id: string }> {
  /** In sentences for the operator. */
  name: 'models' | 'video models' | 'image models';
  /** `null`: no such list, or none of it can be served; then what was there is kept. Throws what `fetchJson` throws. */
  read(from: ListReading<M>): Promise<ImportedList<M> | null>;
  prices(model: M): Map<string, AttoUsd>;
}

export interface ListReading<M> {
  provider: Provider;
  fetchJson: FetchProviderJson;
  nowMs: number;
  before: ImportedList<M> | null;
}

export interface ImportStatus {
  providerId: string;
  list: ListKind<never>['name'];
  /** `null`: its list has never arrived. */
  lastSuccessAtMs: number | null;
  /** `null`: the newest attempt was good, or none has ended yet. */
  lastError: { message: string; atMs: number } | null;
  servedModels: number;
  notServedModels: number;
  /** Ids whose price jumped: they are served at the old one. */
  heldBack: readonly string[];
  /** Missing, or too old to be believed: its models are not served. */
  stale: boolean;
}

export interface ImportRules {
  /** An imported price that moves by more at once is held back. */
  priceJumpPpm: bigint;
  /** A list that could not be fetched anew for longer is stale. */
  listMaxAgeMs: number;
}

/** One provider's list, fetched now and every hour. A failed fetch keeps the last good list. */
export interface ImportSource<M> {
  list(): ImportedList<M> | null;
  status(): ImportStatus;
  isStale(): boolean;
  /** The same provider with another key, switch or rule. */
  use(provider: Provider, rules: ImportRules): void;
  /** Joins the fetch that is under way, if any. Never rejects: what went wrong stands in `status()`. */
  refresh(): Promise<void>;
  /** The same, and prices count as they come: the operator has looked at them. */
  accept(): Promise<void>;
  close(): void;
}

interface Options<M extends { id: string }> {
  kind: ListKind<M>;
  provider: Provider;
  rules: ImportRules;
  fetchJson: FetchProviderJson;
  clock: Clock;
  log: Log;
  /** A list came, or is too old from now on. */
  onChange: () => void;
}

export function createImportSource<M extends { id: string }>({
  kind,
  provider,
  rules,
  fetchJson,
  clock,
  log,
  onChange,
}: Options<M>): ImportSource<M> {
  let current = provider;
  let { priceJumpPpm, listMaxAgeMs } = rules;
  let heldBack: readonly string[] = [];
  let list: ImportedList<M> | null = null;
  let lastSuccessAtMs: number | null = null;
  let lastError: ImportStatus['lastError'] = null;
  let stale = true;
  let running: Promise<void> | null = null;
  let timer: Timer | null = null;
  let closed = false;

  async function fetchOnce(mayJump: boolean): Promise<void> {
    const found = await attempt();
    // Closed means replaced: a late answer of the old address must not count for the new one.
    if (closed) return;
    if (typeof found === 'string') failed(found);
    else {
      if (lastError !== null) log.info(`a list of ${kind.name} came again`);
      const held = holdBackJumps(mayJump ? null : list, found, priceJumpPpm, kind.prices);
      list = held.list;
      heldBack = held.heldBack;
      lastSuccessAtMs = clock.now();
      lastError = null;
      stale = false;
      onChange();
    }
    timer?.cancel();
    timer = clock.setTimer(lastError === null ? CATALOG_REFRESH_MS : CATALOG_RETRY_MS, () => void refresh());
  }

  /** Said once of an outage, and once more when it has lasted too long: an attempt a minute would fill the log. */
  function failed(message: string): void {
    if (lastError === null)
      log.warn(`a list of ${kind.name} did not come, it is asked for again`, { cause: message });
    lastError = { message, atMs: clock.now() };
    if (stale || lastSuccessAtMs === null || clock.now() - lastSuccessAtMs <= listMaxAgeMs) return;
    stale = true;
    const count = list?.models.length ?? 0;
    log.error(`a list of ${kind.name} is too old, they are not served until it comes`, {
      cause: message,
      count,
    });
    onChange();
  }

  async function attempt(): Promise<ImportedList<M> | string> {
    try {
      const found = await kind.read({ provider: current, fetchJson, nowMs: clock.now(), before: list });
      // A provider's bad minute must not empty the catalogue.
      const emptied = found?.models.length === 0 && (list?.models.length ?? 0) > 0;
      return found === null || emptied ? `The answer is no list of ${kind.name} that can be served.` : found;
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
      list: kind.name,
      lastSuccessAtMs,
      lastError,
      servedModels: list?.models.length ?? 0,
      notServedModels: list?.notServed.length ?? 0,
      heldBack,
      stale,
    }),
    isStale: () => stale,
    use(next, nextRules) {
      current = next;
      ({ priceJumpPpm, listMaxAgeMs } = nextRules);
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
