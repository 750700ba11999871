import { type Clock, HOUR_MS, MINUTE_MS, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { type AttoUsd, FACTOR_ONE_PPM, maxBigint, minBigint } from '../money.ts';
import type { Provider } from './catalog.ts';

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

export function createImportSource<M extends { id: string }>(options: Options<M>): ImportSource<M> {
  const { kind, fetchJson, clock } = options;
  const state = new ListState(options);
  let current = options.provider;
  let running: Promise<void> | null = null;
  let timer: Timer | null = null;
  let closed = false;

  async function fetchOnce(mayJump: boolean): Promise<void> {
    const nowMs = clock.now();
    const answer = await readList(kind, { provider: current, fetchJson, nowMs, before: state.list });
    // Closed means replaced: a late answer of the old address must not count for the new one.
    if (closed) return;
    if (typeof answer === 'string') state.fail(answer);
    else state.replace(answer, mayJump);
    timer?.cancel();
    const waitMs = state.lastError === null ? CATALOG_REFRESH_MS : CATALOG_RETRY_MS;
    timer = clock.setTimer(waitMs, () => void refresh());
  }

  function refresh(mayJump = false): Promise<void> {
    running ??= fetchOnce(mayJump).finally(() => {
      running = null;
    });
    return running;
  }

  return {
    list: () => state.list,
    status: () => state.status(current.id),
    isStale: () => state.stale,
    use(provider, rules) {
      current = provider;
      state.rules = rules;
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

/** The list, or a sentence that says why there is none. */
async function readList<M extends { id: string }>(
  kind: ListKind<M>,
  from: ListReading<M>,
): Promise<ImportedList<M> | string> {
  try {
    const list = await kind.read(from);
    // A provider's bad minute must not empty the catalogue.
    const isEmptied = list?.models.length === 0 && (from.before?.models.length ?? 0) > 0;
    return list === null || isEmptied ? `The answer is no list of ${kind.name} that can be served.` : list;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The last good list of a provider, and the outcome of the newest attempt to fetch it. */
class ListState<M extends { id: string }> {
  list: ImportedList<M> | null = null;
  lastError: ImportStatus['lastError'] = null;
  stale = true;
  rules: ImportRules;
  readonly #parts: Pick<Options<M>, 'kind' | 'clock' | 'log' | 'onChange'>;
  #heldBack: readonly string[] = [];
  #lastSuccessAtMs: number | null = null;

  constructor({ rules, ...parts }: Options<M>) {
    this.rules = rules;
    this.#parts = parts;
  }

  replace(next: ImportedList<M>, mayJump: boolean): void {
    const { kind, clock, log, onChange } = this.#parts;
    if (this.lastError !== null) log.info(`a list of ${kind.name} came again`);
    const before = mayJump ? null : this.list;
    const { list, heldBack } = holdBackJumps(before, next, this.rules.priceJumpPpm, kind.prices);
    this.list = list;
    this.#heldBack = heldBack;
    this.#lastSuccessAtMs = clock.now();
    this.lastError = null;
    this.stale = false;
    onChange();
  }

  /** Logs an outage once, and once more when the list is too old: an attempt a minute would fill the log. */
  fail(message: string): void {
    const { kind, clock, log, onChange } = this.#parts;
    if (this.lastError === null)
      log.warn(`a list of ${kind.name} did not come, it is asked for again`, { cause: message });
    this.lastError = { message, atMs: clock.now() };
    const lastMs = this.#lastSuccessAtMs;
    if (this.stale || lastMs === null || clock.now() - lastMs <= this.rules.listMaxAgeMs) return;
    this.stale = true;
    const count = this.list?.models.length ?? 0;
    log.error(`a list of ${kind.name} is too old, they are not served until it comes`, {
      cause: message,
      count,
    });
    onChange();
  }

  status(providerId: string): ImportStatus {
    return {
      providerId,
      list: this.#parts.kind.name,
      lastSuccessAtMs: this.#lastSuccessAtMs,
      lastError: this.lastError,
      servedModels: this.list?.models.length ?? 0,
      notServedModels: this.list?.notServed.length ?? 0,
      heldBack: this.#heldBack,
      stale: this.stale,
    };
  }
}

/**
 * A new list, in which a model whose price jumped keeps its old entry: one wrong digit at a provider must neither be
 * charged to agents nor given away. A price that stays where it jumped to waits for the operator.
 *
 * @param factorPpm A price may become this many times dearer or cheaper at once.
 */
function holdBackJumps<M extends { id: string }>(
  before: ImportedList<M> | null,
  list: ImportedList<M>,
  factorPpm: bigint,
  prices: (model: M) => Map<string, AttoUsd>,
): { list: ImportedList<M>; heldBack: string[] } {
  if (before === null) return { list, heldBack: [] };
  const known = new Map(before.models.map((model) => [model.id, model]));
  const heldBack: string[] = [];
  const models = list.models.map((model) => {
    const old = known.get(model.id);
    if (old === undefined || !jumps(prices(old), prices(model), factorPpm)) return model;
    heldBack.push(model.id);
    return old;
  });
  return { list: { ...list, models }, heldBack };
}

function jumps(
  before: ReadonlyMap<string, AttoUsd>,
  now: ReadonlyMap<string, AttoUsd>,
  factorPpm: bigint,
): boolean {
  return [...new Set([...before.keys(), ...now.keys()])].some((name) => {
    const [was, is] = [before.get(name), now.get(name)];
    // A price that comes or goes is another way of billing, not a jump.
    if (was === undefined || is === undefined) return false;
    return maxBigint(was, is) * FACTOR_ONE_PPM > minBigint(was, is) * factorPpm;
  });
}
