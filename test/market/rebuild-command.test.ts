import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AUDIT_FILE, openSqliteAuditFile } from '#core/audit-log/sqlite-audit-file.ts';
import { MARKETS_FILE, openSqliteMarketStore } from '#core/market/sqlite-market-store.ts';
import { runCli } from '../../api/admin/cli/run-cli.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';
import { createDraw } from '../ledger/history/random.ts';
import { batchOf, candleWorld } from './candle-world.ts';
import { allCandlesOf, allFolded, ENDS_MS, MARKET, OPENS_MS, seededTrades } from './market-trades.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'faregate-rebuild-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function faregate(...args: string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end();
  const environment = cliEnvironment({ FAREGATE_DATA: folder });
  const code = await runCli(args, { environment, stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: stripVTControlCharacters(await text(stdout)), err: await text(stderr) };
}

const changes = () => {
  const audit = openSqliteAuditFile(join(folder, AUDIT_FILE));
  const found = audit.list({ limit: 10 });
  audit.close();
  return found.map(({ action, subject, ended }) => ({ action, subject, result: ended?.result }));
};

test('an operator checks the candles of a market, and makes them anew while its gateway folds on', async () => {
  const store = openSqliteMarketStore(join(folder, MARKETS_FILE));
  const keeper = candleWorld({ nowMs: ENDS_MS }).startKeeper(store);
  const trades = seededTrades(300, createDraw(3));
  await keeper.handle(batchOf(trades.slice(0, 200)));
  const check = ['market', 'rebuild', MARKET, '--check'];
  const count = Object.values(allFolded(trades.slice(0, 200))).flat().length;
  expect(await faregate(...check)).toEqual({
    ...{ code: 0, out: `200 trades make ${count} candles. All were as they should be.\n`, err: '' },
  });
  expect(existsSync(join(folder, AUDIT_FILE))).toBe(false);

  const [row] = await store.readCandles(MARKET, '4h', OPENS_MS, ENDS_MS);
  const cursor = await store.readCursor(MARKET);
  if (row === undefined || cursor === null) throw new Error('nothing was stored');
  await store.writeTrades({ market: MARKET, trades: [], candles: [{ ...row, closeNano: 1n }], cursor });
  expect(await faregate(...check)).toMatchObject({
    ...{ code: 1, out: `200 trades make ${count} candles. 1 are not as they should be.\n` },
  });
  expect(await faregate('market', 'rebuild', MARKET)).toMatchObject({
    ...{ code: 0, out: `200 trades make ${count} candles. 1 were not as they should be, and are now.\n` },
  });
  expect(changes()).toEqual([{ action: 'market.rebuild', subject: { market: MARKET }, result: 'ok' }]);

  // What comes next is tried again once: the keeper has to begin anew.
  const rest = batchOf(trades.slice(200), 200n);
  await keeper.handle(rest);
  await keeper.handle(rest);
  await keeper.stop();
  expect(await allCandlesOf(store)).toEqual(allFolded(trades));
  const { code, out } = await faregate('--json', ...check);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ market: MARKET, trades: 300, differing: 0, written: false });
  await store.close();
});

test('a market that nobody knows is refused, and nothing is made for it', async () => {
  const refusal = { code: 1, out: '', err: `Nothing is stored of a market ${MARKET}.\n` };
  expect(await faregate('market', 'rebuild', MARKET)).toEqual(refusal);
  expect(existsSync(join(folder, MARKETS_FILE))).toBe(false);
  const store = openSqliteMarketStore(join(folder, MARKETS_FILE));
  await store.readListings();
  await store.close();
  expect(await faregate('market', 'rebuild', MARKET)).toEqual(refusal);
  expect(await faregate('market', 'rebuild', '../x', '--check')).toMatchObject({ code: 1 });
  expect(existsSync(join(folder, AUDIT_FILE))).toBe(false);
});
