import { describe, expect, it } from 'vitest';
import type { BillMark, BillStore } from '#core/bills/bill-store.ts';

let named = 0;
const account = () => {
  named += 1;
  return { name: `both ${named}`, providerIds: [`a${named}`, `b${named}`] };
};

const mark = (atMs: number, last: BillMark['last'] = null): BillMark => ({
  atMs,
  billNanoUsd: 9_000_000_000_000_000n,
  recordedNanoUsd: 7n,
  last,
});

/** `open` answers another process's view of the same store. */
export function billStoreContract(open: () => BillStore | Promise<BillStore>): void {
  describe('what providers took', () => {
    it('is nothing where nothing was told', async () => {
      expect(await (await open()).read(account())).toEqual({ mark: null, text: '', recordedNanoUsd: 0n });
    });

    it('is summed up, exactly, over the providers of one bill, and is there after a restart', async () => {
      const both = account();
      const [a = '', b = ''] = both.providerIds;
      const store = await open();
      await store.add(new Map([[a, 9_000_000_000_000_000n]]));
      await store.add(
        new Map([
          [a, 1n],
          [b, 2n],
          ['another', 5n],
        ]),
      );
      expect((await (await open()).read(both)).recordedNanoUsd).toBe(9_000_000_000_000_003n);
    });
  });

  describe('the mark from which a comparison goes on', () => {
    it('is as it was written, after a restart too', async () => {
      const both = account();
      const store = await open();
      const last = { fromMs: 1, toMs: 2, billedNanoUsd: 3n, recordedNanoUsd: 4n };
      expect(await store.replace(both, await store.read(both), mark(5, last))).toBe(true);
      expect((await (await open()).read(both)).mark).toEqual(mark(5, last));
    });
  });
}
