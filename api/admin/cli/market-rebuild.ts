import type { Command } from 'commander';
import { checkMarket, type Rebuilt, rebuildMarket } from '#core/market/rebuild-market.ts';
import { openMarketStore } from '../open-market-store.ts';
import { auditedWork } from './audited-work.ts';
import type { CliContext, OpenContext } from './cli-context.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { explaining } from './explaining.ts';
import { addExamples } from './help.ts';
import type { Paint } from './terminal.ts';

/** `faregate market rebuild`: on the stores themselves, while the gateway or the workers run or not. */
export function addMarketRebuild(group: Command, open: OpenContext): void {
  const rebuild = group
    .command('rebuild <id>')
    .description(
      "make a market's candles anew of its trades; with --check, exit code 1 when any is not right",
    )
    .option('--check', 'only compare, and change nothing')
    .action(async (id: string, { check }: { check?: true }) => {
      const context = open();
      const { show, paint, fail } = context;
      const rebuilt = await explaining(() =>
        context.telling('Reading its trades', () => rebuildIn(context, id, check === true)),
      );
      if (rebuilt === null) throw new CliError(exitCodes.refused, `Nothing is stored of a market ${id}.`);
      if (check && rebuilt.differing > 0) fail();
      show({ market: id, ...rebuilt, written: check !== true }, () => [
        summary(rebuilt, check === true, paint),
      ]);
    });
  addExamples(rebuild, {
    'market rebuild credit-2026-11-30 --check': 'whether its candles are what its trades make',
    'market rebuild credit-2026-11-30': 'whoever folds the market goes on meanwhile',
  });
}

async function rebuildIn(
  { loadStorage, user }: CliContext,
  id: string,
  check: boolean,
): Promise<Rebuilt | null> {
  const storage = await loadStorage();
  const store = openMarketStore(storage);
  if (store === null) return null;
  try {
    if (check) return await checkMarket(store, id);
    if ((await store.readCursor(id)) === null) return null;
    return await auditedWork(
      { storage, action: 'market.rebuild', subject: { market: id }, user },
      async (begin) => {
        await begin();
        return rebuildMarket(store, id);
      },
    );
  } finally {
    await store.close();
  }
}

function summary({ trades, candles, differing }: Rebuilt, check: boolean, paint: Paint): string {
  const made = `${trades} trades make ${candles} candles.`;
  if (differing === 0) return paint('green', `${made} All were as they should be.`);
  return check
    ? paint('red', `${made} ${differing} are not as they should be.`)
    : paint('yellow', `${made} ${differing} were not as they should be, and are now.`);
}
