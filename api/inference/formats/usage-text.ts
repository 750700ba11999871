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
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWritten },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: prompt + completion,
  });
}

export function messagesUsageText(tokens: TokenCounts, shown: NanoUsd | null): string {
  const { prompt, completion, reasoning, cached, cacheWritten = 0 } = tokens;
  return withCost(shown, {
    input_tokens: prompt - cached - cacheWritten,
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: reasoning === null ? undefined : { thinking_tokens: reasoning },
  });
}

function withCost(shown: NanoUsd | null, counters: object): string {
  const counts = JSON.stringify(counters);
  return shown === null ? counts : `${counts.slice(0, -1)},"cost":${formatUsd(shown)}}`;
}
