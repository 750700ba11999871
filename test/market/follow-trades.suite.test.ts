import { test } from 'vitest';
import { followTrades } from './follow-trades.ts';

test('trades out of order, repeated, read by one process after the other, make the candles that SQL makes', async () => {
  console.log(await followTrades(200_000, 20_261_125));
});
