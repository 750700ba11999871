import type { ErrorCode } from '../contract/errors.ts';
import type { Gateway } from './gateway.ts';
import type { WatchedEndpoint } from './routing/endpoint-health.ts';

/** Of what no caller can mend, nor is told in so many words: once in a while, not with each call. */
export function tellOperator(
  { health, log, clock }: Pick<Gateway, 'health' | 'log' | 'clock'>,
  endpoint: WatchedEndpoint,
  model: string,
  code: ErrorCode,
): void {
  const advice = ADVICE.get(code);
  if (advice === undefined || !health.isNews(endpoint, code, clock.monotonicMs())) return;
  log.warn(`calls of a model fail: ${advice}`, { model, code });
}

const ADVICE: ReadonlyMap<ErrorCode, string> = new Map<ErrorCode, string>([
  ['no_provider', 'its provider knows no such path or model, check baseUrl and the name of the model there'],
  ['gateway_unavailable', 'its provider refuses our key or our account'],
  ['gateway_capacity', 'our account at its provider has no money or quota left'],
  ['upstream_unreachable', 'its provider cannot be reached, check baseUrl'],
]);
