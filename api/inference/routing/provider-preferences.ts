import { isRecord } from '#core/is-record.ts';
import { type AttoUsd, readAttoUsd } from '#core/money.ts';
import type { Candidate } from '../admit/call-plan.ts';

/** What a caller's `provider` object asks of endpoints that are the operator's own; a router reads it itself. */
export interface ProviderPreferences {
  /** The suffix that steers the same way. */
  steering: 'floor' | 'nitro' | 'exacto' | null;
  allowFallbacks: boolean;
  /** Only an endpoint that is sent every field of the request may run it. */
  requiresParameters: boolean;
  /** Dollars per unit, as the model list shows them: the margin included. */
  maxPrice: Readonly<Record<'prompt' | 'completion' | 'request' | 'image', AttoUsd | null>>;
  /** A condition that nobody knows to be met by an endpoint of the operator's own; `null`: none. */
  unknown: string | null;
}

export function readPreferences(provider: unknown): ProviderPreferences {
  if (!isRecord(provider)) return noPreferences;
  const { sort, allow_fallbacks: allowFallbacks, max_price: ceilings } = provider;
  const by = isRecord(sort) ? sort.by : sort;
  const prices = isRecord(ceilings) ? ceilings : {};
  return {
    steering: typeof by === 'string' ? (STEERING.get(by) ?? null) : null,
    allowFallbacks: allowFallbacks !== false,
    requiresParameters: provider.require_parameters === true,
    maxPrice: {
      prompt: perToken(readAttoUsd(prices.prompt)),
      completion: perToken(readAttoUsd(prices.completion)),
      request: readAttoUsd(prices.request),
      image: readAttoUsd(prices.image),
    },
    unknown: CONDITIONS.find((name) => asksFor(provider[name])) ?? null,
  };
}

/** The preference that keeps an endpoint from running the call, by its name below `provider`; `null`: none. */
export function unmetPreference(
  { maxPrice, unknown }: ProviderPreferences,
  { provider, endpoint }: Pick<Candidate, 'provider' | 'endpoint'>,
): string | null {
  if (provider.kind.capabilities.routesBetweenVendors) return null;
  if (unknown !== null) return unknown;
  const { prompt, completion, request, image } = endpoint.prices;
  const tooDear =
    isAbove(prompt, maxPrice.prompt) ||
    isAbove(completion, maxPrice.completion) ||
    isAbove(request, maxPrice.request) ||
    isAbove(image ?? 0n, maxPrice.image);
  return tooDear ? 'max_price' : null;
}

const noPreferences: ProviderPreferences = {
  steering: null,
  allowFallbacks: true,
  requiresParameters: false,
  maxPrice: { prompt: null, completion: null, request: null, image: null },
  unknown: null,
};

const STEERING: ReadonlyMap<string, 'floor' | 'nitro' | 'exacto'> = new Map([
  ['price', 'floor'],
  ['throughput', 'nitro'],
  ['latency', 'nitro'],
  ['exacto', 'exacto'],
] as const);

/** Names of the router's providers, and what only it knows of them. */
const CONDITIONS = [
  'only',
  'ignore',
  'data_collection',
  'zdr',
  'enforce_distillable_text',
  'quantizations',
] as const;

const asksFor = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== 'allow' &&
  !(Array.isArray(value) && value.length === 0);

/** Callers write dollars per million tokens. */
const perToken = (ceiling: AttoUsd | null): AttoUsd | null =>
  ceiling === null ? null : ceiling / TOKENS_PER_CEILING;
const TOKENS_PER_CEILING = 1_000_000n;

const isAbove = (price: AttoUsd, ceiling: AttoUsd | null): boolean => ceiling !== null && price > ceiling;
