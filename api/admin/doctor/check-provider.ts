import { z } from 'zod';
import type { Model, Prices, Provider } from '#core/catalog/catalog.ts';
import type { ModelSettings, ProviderSettings } from '#core/catalog/catalog-settings.ts';
import { toProvider } from '#core/catalog/catalog-snapshot.ts';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { type FetchProviderJson, ProviderAnswerError } from '#core/catalog/import-source.ts';
import type { Clock } from '#core/clock.ts';
import { DOCTOR_ASK_MS, MODEL_ID_CHARS_MAX, MODELS_MAX } from '#core/limits.ts';
import { formatAttoUsd, timesFactorUp } from '#core/money.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Names that one line lists. The others are counted. */
const DOCTOR_NAMES_MAX = 5;

/** Asks for what costs nothing: what the key is, and which models there are. Never a call. */
export async function checkProvider(
  settings: ProviderSettings,
  { models }: Pick<Config, 'models'>,
  clock: Clock,
): Promise<Finding[]> {
  const check = `provider ${settings.id}`;
  if (settings.stopped)
    return [warning(check, 'it is stopped, so it was not asked', 'Take stopped: true away to use it.')];
  if (settings.baseUrl === null) return [ok(check, 'the simulator, which starts with the gateway')];
  const provider = toProvider(settings, null);
  const fetchJson = createFetchProviderJson(clock, DOCTOR_ASK_MS);
  const [refusal, list] = await Promise.all([
    askKey(provider, fetchJson),
    ask(provider, provider.kind.lists.models.path, fetchJson),
  ]);
  if (refusal !== null) return [toFinding(check, provider, refusal)];
  if (list instanceof Error) return [toFinding(check, provider, list)];
  const own = models.flatMap(({ id, endpoints }) =>
    endpoints.flatMap(({ providerId, upstreamModel, prices }) =>
      providerId === provider.id ? [{ modelId: id, upstreamModel, prices }] : [],
    ),
  );
  return readList({ check, settings, own, answer: list, nowMs: clock.now() });
}

/** Some kinds describe the key. For the others the list of models must do, which most give to nobody without a key. */
async function askKey(provider: Provider, fetchJson: FetchProviderJson): Promise<Error | null> {
  const { keyPath } = provider.kind;
  if (keyPath === null || provider.apiKey === null) return null;
  const answer = await ask(provider, keyPath, fetchJson);
  return answer instanceof Error ? answer : null;
}

/** Whatever is thrown is a sentence for the operator, see `FetchProviderJson`. */
const ask = (provider: Provider, path: string, fetchJson: FetchProviderJson): Promise<unknown> =>
  fetchJson(provider, path).catch((error: unknown) =>
    error instanceof Error ? error : new Error(String(error)),
  );

function toFinding(check: string, { apiKey, baseUrl }: Provider, error: Error): Finding {
  const status = error instanceof ProviderAnswerError ? error.status : null;
  if (status === 401 || status === 403) {
    if (apiKey === null)
      return problem(check, `it wants a key (${status})`, 'Name one with apiKeyEnv or apiKeyFile.');
    return problem(
      check,
      `it refuses the key (${status})`,
      'Put one that it knows where apiKeyEnv or apiKeyFile points.',
    );
  }
  if (status === 404) {
    const todo =
      'Look at baseUrl, which mostly ends in /v1. A server without such a list works all the same.';
    return warning(check, `it has no list of models at ${baseUrl}/models, so nothing was compared`, todo);
  }
  return problem(check, error.message, 'Look at baseUrl, at the network, and whether the provider is up.');
}

export interface ProviderList {
  check: string;
  settings: Pick<ProviderSettings, 'id' | 'kind' | 'apiKey' | 'catalog' | 'priceFactorPpm'>;
  /** What the configuration names of this provider. */
  own: readonly OwnPrices[];
  answer: unknown;
  nowMs: number;
}

const listed = z.object({
  data: z.array(z.object({ id: z.string().max(MODEL_ID_CHARS_MAX) })).max(MODELS_MAX),
});

export function readList({ check, settings, own, answer, nowMs }: ProviderList): Finding[] {
  const ids = listed.safeParse(answer).data?.data.map(({ id }) => id);
  if (ids === undefined) {
    return [
      problem(
        check,
        'what it answers is no list of models',
        'Look at baseUrl: something else answers there.',
      ),
    ];
  }
  const priced = settings.kind.lists.models.read(answer, settings.id, nowMs);
  if (settings.catalog === 'import' && priced === null) {
    return [
      problem(
        check,
        'its list has no model with prices',
        'Write catalog: none, and its models with their prices.',
      ),
    ];
  }
  const key = settings.apiKey === null ? 'it answers without a key' : 'its key is accepted';
  const withPrices = `${priced?.models.length ?? 0} of them with prices that can be served`;
  return [
    ok(check, `${key}; it lists ${ids.length} models, ${withPrices}`),
    ...missingModels(check, own, new Set(ids)),
    ...(priced === null
      ? uncompared(check, own)
      : comparePrices({ check, own, listed: priced.models, ...settings })),
  ];
}

function missingModels(check: string, own: readonly OwnPrices[], ids: ReadonlySet<string>): Finding[] {
  const missing = own
    .filter(({ upstreamModel }) => !ids.has(upstreamModel))
    .map(({ upstreamModel }) => upstreamModel);
  if (missing.length === 0) return [];
  const names = missing.slice(0, DOCTOR_NAMES_MAX).join(', ');
  const more = missing.length > DOCTOR_NAMES_MAX ? ` and ${missing.length - DOCTOR_NAMES_MAX} more` : '';
  const todo = 'Correct endpoints[].model in the configuration, or ask the provider for access.';
  return [warning(check, `it does not list ${names}${more}`, todo)];
}

const uncompared = (check: string, own: readonly OwnPrices[]): Finding[] =>
  own.length === 0
    ? []
    : [ok(check, `${own.length} models at the prices of the configuration; it lists none to compare`)];

/** The configuration of a model at one provider, without the operator's margin. */
interface OwnPrices extends Pick<ModelSettings['endpoints'][number], 'upstreamModel' | 'prices'> {
  modelId: string;
}

interface Comparison extends Pick<ProviderSettings, 'priceFactorPpm'> {
  check: string;
  own: readonly OwnPrices[];
  /** As the provider states them. */
  listed: readonly Model[];
}

const COMPARED = ['prompt', 'completion', 'request', 'cacheRead', 'cacheWrite'] as const;
type Compared = (typeof COMPARED)[number];

/** A price below the provider's loses money with each call; one that only differs may be meant so. */
function comparePrices({ check, own, listed, priceFactorPpm }: Comparison): Finding[] {
  const byId = new Map(listed.map((model) => [model.id, model.endpoints[0]?.prices]));
  return own.flatMap(({ modelId, upstreamModel, prices }) => {
    const theirs = byId.get(upstreamModel);
    if (theirs === undefined) return [];
    const differing = COMPARED.filter((name) => differs(prices, theirs, name));
    if (differing.length === 0) return [];
    const found = `${modelId}: ${differing.map((name) => describe(prices, theirs, name)).join(', ')}`;
    const loses = differing.some(
      (name) => timesFactorUp(prices[name] ?? 0n, priceFactorPpm) < (theirs[name] ?? 0n),
    );
    return [
      loses
        ? problem(
            check,
            found,
            'Raise the price in the configuration, or priceFactor: each call loses money.',
          )
        : warning(check, found, 'Take the listed price, unless yours is meant so.'),
    ];
  });
}

/** A price that only one of the two has is another way of billing. */
const differs = (ours: Prices, theirs: Prices, name: Compared): boolean =>
  ours[name] !== null && theirs[name] !== null && ours[name] !== theirs[name];

const describe = (ours: Prices, theirs: Prices, name: Compared): string =>
  `${name} is ${formatAttoUsd(ours[name] ?? 0n)}, and it lists ${formatAttoUsd(theirs[name] ?? 0n)}`;
