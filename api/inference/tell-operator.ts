import type { ErrorCode } from '../contract/errors.ts';
import type { HeldCall } from './held-call.ts';
import type { WatchedEndpoint } from './routing/endpoint-health.ts';

/** Of what no caller can mend, nor is told in so many words: once in a while, not with each call. */
export function tellOperator(
  { options, endedByUs }: Pick<HeldCall, 'options' | 'endedByUs'>,
  endpoint: WatchedEndpoint,
  model: string,
  code: ErrorCode,
): void {
  // What a drain cuts short is answered by a code that would blame the provider here.
  if (endedByUs === 'drain') return;
  const { health, log, clock } = options.gateway;
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
