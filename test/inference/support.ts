import type { Catalog, Endpoint, Model, Prices, Provider } from '#core/catalog/catalog.ts';
import { createNearestNames } from '#core/catalog/nearest-names.ts';
import { defaultLimits } from '#core/limits.ts';
import { parseAttoUsd } from '#core/money.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import type { CallPlan, Candidate } from '../../api/inference/admit/call-plan.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import type { LinkRules, OwnerOf } from '../../api/inference/linked-images/linked-media.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { plainHealth } from '../support/plain-health.ts';

export function atto(usd: string): bigint {
  const parsed = parseAttoUsd(usd);
  if (parsed === null) throw new Error(`${usd} is no price`);
  return parsed;
}

export const prices = (given: Partial<Prices> = {}): Prices => ({
  prompt: atto('0.000001'),
  completion: atto('0.000004'),
  request: 0n,
  cacheRead: null,
  cacheWrite: null,
  cacheWrite1h: null,
  internalReasoning: null,
  image: null,
  webSearch: null,
  overrides: [],
  ...given,
});

export const provider = (given: Partial<Provider> = {}): Provider => ({
  id: 'router',
  kind: providerKinds.openrouter,
  formats: ['chat', 'responses', 'messages'],
  cancel: 'stops_billing',
  dialect: dialects.other,
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKey: null,
  settings: {},
  priceFactorPpm: 1_000_000n,
  stopped: false,
  ...given,
});

export const endpoint = (given: Partial<Endpoint> = {}): Endpoint => ({
  providerId: 'router',
  upstreamModel: 'acme/small',
  contextLength: null,
  maxOutputTokens: null,
  prices: prices(),
  ...given,
});

export const model = (given: Partial<Model> = {}): Model => ({
  id: 'acme/small',
  name: 'Acme Small',
  contextLength: 32_768,
  maxOutputTokens: 4_096,
  inputModalities: ['text'],
  createdAtMs: null,
  about: null,
  endpoints: [endpoint()],
  ...given,
});

export const candidate = (given: Partial<Candidate> = {}): Candidate => {
  const wanted = given.model ?? model();
  return {
    model: wanted,
    endpoint: given.endpoint ?? wanted.endpoints[0] ?? endpoint(),
    provider: given.provider ?? provider(),
    suffixes: given.suffixes ?? [],
    format: given.format ?? chatFormat,
    translated: given.translated ?? null,
    serverTools: given.serverTools ?? null,
    leftOut: given.leftOut ?? [],
    hints: given.hints ?? [],
    editsChat: given.editsChat ?? false,
    unrunTools: given.unrunTools ?? [],
    betaFields: given.betaFields ?? [],
  };
};

export interface TestCatalogOptions {
  models?: readonly Model[];
  providers?: readonly Provider[];
  notServed?: readonly string[];
  /** No list has come yet: what is not known may exist. */
  unavailable?: boolean;
  stopped?: boolean;
}

/** A catalogue as a call reads it. By default one model at one router. */
export function testCatalog(options: TestCatalogOptions = {}): Catalog {
  const models = options.models ?? [model()];
  const providers = options.providers ?? [provider()];
  const nearest = createNearestNames(models.map((each) => each.id));
  return {
    find(modelId) {
      const served = models.find((each) => each.id === modelId);
      if (served !== undefined) return { status: 'served', model: served };
      if (options.notServed?.includes(modelId)) return { status: 'not_served' };
      if (options.unavailable) return { status: 'unavailable' };
      return { status: 'unknown', nearest: nearest(modelId) };
    },
    models: () => models,
    findVideoModel: () => ({ status: 'unknown', nearest: [] }),
    videoModels: () => [],
    findImageModel: () => ({ status: 'unknown', nearest: [] }),
    imageModels: () => [],
    provider: (providerId) => providers.find((each) => each.id === providerId),
    providers: () => providers,
    gatewayStopped: () => options.stopped ?? false,
  };
}

export const messages = '"messages":[{"role":"user","content":"hi"}]';

/** A valid body with these members, given as JSON text so that a test decides about every byte. */
export const bodyWith = (...members: string[]): string =>
  `{${['"model":"acme/small"', messages, ...members].join(',')}}`;

/** No link leads to a file of this gateway. */
export const noOwner: OwnerOf = () => ({ kind: 'foreign' });

export const noLinkRules: LinkRules = { ownerOf: noOwner, linksMax: defaultLimits.linksPerCall };

export const admit = (body: string | Buffer, catalog: Catalog = testCatalog()) =>
  admitCall(chatFormat, Buffer.from(body), 'active', {
    catalog,
    health: plainHealth(),
    links: noLinkRules,
  });

/** The plan of a body that has to be admitted. */
export function planOf(body: string, catalog?: Catalog): CallPlan {
  const admitted = admit(body, catalog);
  if (!admitted.ok) throw new Error(`refused: ${admitted.error.code}: ${admitted.error.message}`);
  return admitted.plan;
}

/** The refusal of a body that has to be refused. */
export function refusalOf(body: string | Buffer, catalog?: Catalog) {
  const admitted = admit(body, catalog);
  if (admitted.ok) throw new Error('admitted');
  return admitted.error;
}
