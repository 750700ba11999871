import type { Command, ResultOf } from '../ledger/command.ts';
import type { Ledger, UnavailableResult } from '../ledger/ledger.ts';

/**
 * A command's answer once it is in the journal. `unavailable` when that cannot be known: the command may or
 * may not have happened, so whoever repeats it has to repeat its id too.
 */
export async function executeDurably<C extends Command>(
  ledger: Pick<Ledger, 'execute'>,
  command: C,
): Promise<ResultOf<C> | UnavailableResult> {
  const { result, durable } = await ledger.execute(command);
  return (await durable) === 'durable' ? result : { ok: false, reason: 'unavailable' };
}
