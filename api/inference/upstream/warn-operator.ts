import type { ErrorCode } from '../../contract/errors.ts';
import type { HeldCall } from '../hold/held-call.ts';
import type { WatchedEndpoint } from '../routing/endpoint-health.ts';

/** Warns of faults that no caller can fix or is told of in so many words: once in a while, not with each call. */
export function warnOperator(
  { options, endedByUs }: Pick<HeldCall, 'options' | 'endedByUs'>,
  endpoint: WatchedEndpoint,
  model: string,
  code: ErrorCode,
): void {
  // A call that a shutdown cut short is answered by a code that would blame the provider here.
  if (endedByUs === 'shutdown') return;
  const { health, log } = options.gateway;
  const advice = ADVICE.get(code);
  if (advice === undefined || !health.isNews(endpoint, code)) return;
  log.warn(`calls of a model fail: ${advice}`, { model, code });
}

const ADVICE: ReadonlyMap<ErrorCode, string> = new Map<ErrorCode, string>([
  ['no_provider', 'its provider knows no such path or model, check baseUrl and the name of the model there'],
  ['gateway_unavailable', 'its provider refuses our key or our account'],
  ['gateway_capacity', 'our account at its provider has no money or quota left'],
  ['upstream_unreachable', 'its provider cannot be reached, check baseUrl'],
]);
