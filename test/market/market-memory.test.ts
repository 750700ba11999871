import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { openMarket } from './market-errors.ts';
import { startMarketWorld } from './market-world.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('addresses of 15 KB, each another one, are answered and leave nothing behind', async () => {
  await using world = await startMarketWorld({ weightPerMinute: 1_000_000 });
  await openMarket(world);
  const ask = async (blanks: number) => {
    const answer = await world.get(`/dex/markets?${'&'.repeat(blanks)}`);
    await answer.arrayBuffer();
    return answer.status;
  };
  const heapBytes = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  for (let i = 0; i < 100; i++) expect(await ask(15_000 + i)).toBe(200);
  const before = heapBytes();
  const asked = 1_000;
  for (let i = 0; i < asked; i++) await ask(14_000 + i);
  // Cached, they are 14 MB.
  expect(heapBytes() - before).toBeLessThan(5_000_000);
});
