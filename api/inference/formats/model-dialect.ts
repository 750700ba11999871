import type { Endpoint, Provider } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { withTurnsOf } from './fit-turns.ts';

/** Whichever server runs them or passes them on, OpenAI's own servers read the schemas. */
const OPENAI = /(?:^|[/:~])(?:gpt-(?!oss)|chatgpt-|codex-|o[134](?![\w.]))/i;
/** The models of one vendor that do not reason, and know no field for it. */
const QUIET = /(?:^|\/)moonshot-v1/i;
/** The address at which DeepSeek goes on with an answer that is marked. */
const BETA = /\/beta\/?$/;

/**
 * The dialect of a server with what one model takes at every server, and what is taken at one address alone. Names and the address tell
 * it by patterns, so it is found out once for an endpoint.
 */
export function dialectAt({ endpoint, provider }: { endpoint: Endpoint; provider: Provider }): Dialect {
  const cached = dialects.get(endpoint);
  if (cached !== undefined && cached.provider === provider) return cached.dialect;
  const dialect = dialectOfModel(endpoint.upstreamModel, provider);
  dialects.set(endpoint, { provider, dialect });
  return dialect;
}

/** The provider stands beside each, because tests ask one endpoint through several. */
const dialects = new WeakMap<Endpoint, { provider: Provider; dialect: Dialect }>();

function dialectOfModel(
  upstreamModel: string,
  { dialect, baseUrl }: Pick<Provider, 'dialect' | 'baseUrl'>,
): Dialect {
  const own = withTurnsOf(upstreamModel, dialect);
  const { turns, takesSchemaChoices, restsByThinking } = own;
  const isQuiet = restsByThinking && QUIET.test(upstreamModel);
  const isMarked = turns.prefill === 'asked' && BETA.test(baseUrl);
  const readByOpenAi = takesSchemaChoices && OPENAI.test(upstreamModel);
  if (!isQuiet && !isMarked && !readByOpenAi) return own;
  return {
    ...own,
    restsByThinking: restsByThinking && !isQuiet,
    takesSchemaChoices: takesSchemaChoices && !readByOpenAi,
    turns: {
      ...turns,
      mayLackReasoning: turns.mayLackReasoning || isQuiet,
      prefill: isMarked ? 'prefix' : turns.prefill,
    },
  };
}
