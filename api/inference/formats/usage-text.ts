import type { TokenCounts } from '#core/events/ledger-event.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';

/* Usage records of ours, as JSON text: the counters that a charge was made of, and the charge itself where it is known. */

export function chatUsageText(tokens: TokenCounts, shown: NanoUsd | null): string {
  const { prompt, completion, reasoning, cached, cacheWritten } = tokens;
  return withCost(shown, {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWritten },
    completion_tokens_details: reasoning === null ? undefined : { reasoning_tokens: reasoning },
  });
}

export function responsesUsageText(tokens: TokenCounts, shown: NanoUsd | null): string {
  const { prompt, completion, reasoning, cached, cacheWritten } = tokens;
  return withCost(shown, {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWritten ?? 0 },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: prompt + completion,
  });
}

/** The record in the last event of a stream. */
export const messagesUsageText = (tokens: TokenCounts, shown: NanoUsd | null): string =>
  withCost(shown, messagesCounters(tokens));

/** The record of a whole message. It always has all members, and typed clients rely on that. */
export const wholeMessagesUsageText = (tokens: TokenCounts, shown: NanoUsd | null): string =>
  withCost(shown, { ...NULL_USAGE_MEMBERS, ...messagesCounters(tokens) });

/** Members of a whole message's record that no provider of another format tells. */
export const NULL_USAGE_MEMBERS = {
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
} as const;

export function messagesCounters({
  prompt,
  completion,
  reasoning,
  cached,
  cacheWritten = 0,
}: TokenCounts): object {
  return {
    input_tokens: prompt - cached - cacheWritten,
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: reasoning === null ? null : { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}

function withCost(shown: NanoUsd | null, counters: object): string {
  const counts = JSON.stringify(counters);
  return shown === null ? counts : `${counts.slice(0, -1)},"cost":${formatUsd(shown)}}`;
}
