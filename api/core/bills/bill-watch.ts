import type { Provider } from '../catalog/catalog.ts';
import type { FetchProviderJson } from '../catalog/import-source.ts';
import { type Clock, DAY_MS, MINUTE_MS, startOfDayMs, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { formatUsd } from '../money.ts';
import type { BillAccount, BillComparison, BillMark, BillStore } from './bill-store.ts';
import { type BilledAccount, billedAccounts, readBill } from './provider-bill.ts';
import type { RecordedCosts } from './recorded-costs.ts';

export interface BillWatchOptions {
  store: BillStore;
  costs: RecordedCosts;
  providers: () => readonly Provider[];
  fetchJson: FetchProviderJson;
  clock: Clock;
  log: Log;
}

/** Of one account, since its last daily comparison. */
export interface BillReading {
  account: BillAccount;
  /** `null`: nothing was read before, or it cannot be read now. */
  comparison: BillComparison | null;
  /** In words for the operator. */
  problem: string | null;
}

/** A machine that has just started may still learn the time; and a process of a minute's life has nothing to compare. */
const FIRST_LOOK_MS = 5 * MINUTE_MS;
/** What ran at midnight has ended by then, for the most part; the rest stands in the next day's comparison. */
const AFTER_MIDNIGHT_MS = 15 * MINUTE_MS;
const TRY_AGAIN_MS = 30 * MINUTE_MS;

/**
 * Once a UTC day, what each provider billed since the last time is compared with what our calls say that they cost.
 * Of several processes the first one counts, and the others take over what it found.
 */
export class BillWatch {
  readonly #options: BillWatchOptions;
  readonly #found = new Map<string, BillComparison>();
  #timer: Timer | null = null;
  #stopped = false;

  constructor(options: BillWatchOptions) {
    this.#options = options;
    this.#lookIn(FIRST_LOOK_MS);
  }

  /** The last daily comparison of each account, as this process knows it. */
  found(): ReadonlyMap<string, BillComparison> {
    return this.#found;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Now, for who asks: the daily comparison goes on from where it was. */
  async readNow(): Promise<BillReading[]> {
    return await Promise.all(
      this.#accounts().map(async (account) => {
        try {
          const { mark } = await this.#options.store.read(account);
          const now = await this.#markNow(account);
          return { account, comparison: mark === null ? null : between(mark, now), problem: null };
        } catch (error) {
          return { account, comparison: null, problem: messageOf(error) };
        }
      }),
    );
  }

  #accounts(): BilledAccount[] {
    return billedAccounts(this.#options.providers().filter(({ stopped }) => !stopped));
  }

  #lookIn(waitMs: number): void {
    if (!this.#stopped) this.#timer = this.#options.clock.setTimer(waitMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    let isAll = true;
    for (const account of this.#accounts()) {
      try {
        await this.#compare(account);
      } catch (error) {
        isAll = false;
        this.#options.log.warn("a provider's bill could not be compared, it is tried again", {
          cause: messageOf(error),
        });
      }
    }
    const nowMs = this.#options.clock.now();
    const untilNextMs = startOfDayMs(nowMs) + DAY_MS + AFTER_MIDNIGHT_MS - nowMs;
    this.#lookIn(isAll ? untilNextMs : Math.min(untilNextMs, TRY_AGAIN_MS));
  }

  async #compare(account: BilledAccount): Promise<void> {
    const { store, clock, log } = this.#options;
    const seen = await store.read(account);
    const { mark } = seen;
    if (mark !== null && startOfDayMs(mark.atMs) === startOfDayMs(clock.now())) {
      this.#take(account, mark.last);
      return;
    }
    const next = await this.#markNow(account);
    const comparison = mark === null ? null : between(mark, next);
    const replaced = await store.replace(account, seen, { ...next, last: comparison });
    this.#take(account, replaced ? comparison : ((await store.read(account)).mark?.last ?? null));
    if (!replaced) return;
    if (comparison === null) log.info("a provider's bill is compared from now on");
    else {
      const { billedNanoUsd, recordedNanoUsd } = comparison;
      log.info("a provider's bill was compared with what its calls say", {
        usd: formatUsd(billedNanoUsd - recordedNanoUsd),
        cause: `billed ${formatUsd(billedNanoUsd)}, recorded ${formatUsd(recordedNanoUsd)}`,
      });
    }
  }

  /** First the bill, then what is recorded: a call that ends in between makes the difference smaller, not larger. */
  async #markNow(account: BilledAccount): Promise<BillMark> {
    const { store, costs, fetchJson, clock } = this.#options;
    const billNanoUsd = await readBill(account, fetchJson);
    await costs.flush();
    const { recordedNanoUsd } = await store.read(account);
    return { atMs: clock.now(), billNanoUsd, recordedNanoUsd, last: null };
  }

  #take({ name }: BillAccount, comparison: BillComparison | null): void {
    if (comparison === null) this.#found.delete(name);
    else this.#found.set(name, comparison);
  }
}

/** `null`: the bill went back, so it is another key's. */
function between(from: BillMark, to: BillMark): BillComparison | null {
  const billedNanoUsd = to.billNanoUsd - from.billNanoUsd;
  const recordedNanoUsd = to.recordedNanoUsd - from.recordedNanoUsd;
  if (billedNanoUsd < 0n || recordedNanoUsd < 0n) return null;
  return { fromMs: from.atMs, toMs: to.atMs, billedNanoUsd, recordedNanoUsd };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');
