import type { Provider } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { withTurnsOf } from './fit-turns.ts';

/** The models of one vendor that do not reason, and know no field for it. */
const QUIET = /(?:^|\/)moonshot-v1/i;
/** The address at which DeepSeek goes on with an answer that is marked. */
const BETA = /\/beta\/?$/;

/** The dialect of a server with what one model takes at every server, and what is taken at one address alone. */
export function dialectOfModel(
  upstreamModel: string,
  { dialect, baseUrl }: Pick<Provider, 'dialect' | 'baseUrl'>,
): Dialect {
  const own = withTurnsOf(upstreamModel, dialect);
  const { turns, restsByThinking } = own;
  const isQuiet = restsByThinking && QUIET.test(upstreamModel);
  const isMarked = turns.prefill === 'asked' && BETA.test(baseUrl);
  if (!isQuiet && !isMarked) return own;
  return {
    ...own,
    restsByThinking: restsByThinking && !isQuiet,
    turns: {
      ...turns,
      mayLackReasoning: turns.mayLackReasoning || isQuiet,
      prefill: isMarked ? 'prefix' : turns.prefill,
    },
  };
}
