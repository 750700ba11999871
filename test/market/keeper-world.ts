import { bookRecord } from '#core/events/book-record.ts';
import type { BatchOutcome, FeedBatch } from '#core/events/feed-record.ts';
import { BOOK_PUBLISH_MS } from '#core/limits.ts';
import type { BookView } from '#core/market/book-view.ts';
import { BookKeeper } from '../../workers/market/book-keeper.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { bytesOf, MARKET } from './book-records.ts';

export interface KeeperWorld {
  keeper: BookKeeper;
  clock: FakeClock;
  /** What readers were told, and the exchange asked for, in order. */
  told: { market: string; book: BookView | null; atMs: number }[];
  asked: { market: string; atMs: number }[];
  logged: string[];
  /** From here on what is told or asked for fails. */
  away: { live: boolean; exchange: boolean };
  /** As one batch of partition 0, each keyed by its market, or by `MARKET` where it names none. */
  send(...written: readonly unknown[]): Promise<BatchOutcome>;
  sendBatch(batch: Partial<FeedBatch>, ...written: readonly unknown[]): Promise<BatchOutcome>;
  /** In steps of the keeper's own timer. */
  pass(ms: number): Promise<void>;
}

export const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createKeeperWorld(clock = createFakeClock()): KeeperWorld {
  const startMs = clock.monotonicMs();
  const atMs = () => clock.monotonicMs() - startMs;
  const [told, asked, logged]: [KeeperWorld['told'], KeeperWorld['asked'], string[]] = [[], [], []];
  const away = { live: false, exchange: false };
  const note = (event: string) => void logged.push(event);
  const keeper = new BookKeeper({
    live: {
      async publishBook(market, book) {
        if (away.live) throw new Error('away');
        told.push({ market, book, atMs: atMs() });
      },
    },
    async requestSnapshot(market) {
      asked.push({ market, atMs: atMs() });
      if (away.exchange) throw new Error('away');
    },
    clock,
    log: { info: note, warn: note, error: note },
  });
  let offset = 0n;
  const world: KeeperWorld = {
    ...{ keeper, clock, told, asked, logged, away },
    send: (...written) => world.sendBatch({}, ...written),
    async sendBatch(batch, ...written) {
      const records = written.map((one) => ({
        offset: offset++,
        bytes: one instanceof Buffer ? one : bytesOf(one),
        key: Buffer.from(bookRecord.safeParse(one).data?.market ?? MARKET),
      }));
      const outcome = await keeper.handle({ partition: 0, records, ...batch });
      await flush();
      return outcome;
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= BOOK_PUBLISH_MS) {
        clock.advance(Math.min(left, BOOK_PUBLISH_MS));
        await flush();
      }
    },
  };
  return world;
}
