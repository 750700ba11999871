import { type AttoUsd, formatAttoUsd } from '#core/money.ts';
import type { TokenUse } from './prices.ts';
import type { Rule } from './script-rule.ts';
import { noRuns, type ToolRuns } from './server-tools.ts';

/** Members of a usage record as JSON texts. `null` leaves a member out. */
export type UsageFields = Readonly<Record<string, string | null>>;

/** The `usage` record as JSON text: made by hand, so that the cost keeps every digit and a script may break it. */
export function usageText(counters: UsageFields, costAtto: AttoUsd | null, rule: Rule): string {
  if (rule.usageText !== undefined) return rule.usageText;
  const fields: UsageFields = {
    ...counters,
    ...(costAtto === null ? {} : { cost: formatAttoUsd(costAtto), is_byok: 'false' }),
    ...rule.usageFields,
  };
  const members = Object.entries(fields).flatMap(([name, text]) =>
    text === null ? [] : [`"${name}":${text}`],
  );
  return `{${members.join(',')}}`;
}

export const chatCounters = (use: TokenUse, runs: ToolRuns): UsageFields => ({
  prompt_tokens: String(use.promptTokens),
  completion_tokens: String(use.completionTokens),
  total_tokens: String(use.promptTokens + use.completionTokens),
  prompt_tokens_details: `{"cached_tokens":${use.cachedTokens}}`,
  completion_tokens_details: `{"reasoning_tokens":${use.reasoningTokens}}`,
  ...toolUseDetails(runs),
});

export const responsesCounters = (use: TokenUse, runs: ToolRuns): UsageFields => ({
  input_tokens: String(use.promptTokens),
  input_tokens_details: `{"cached_tokens":${use.cachedTokens}}`,
  output_tokens: String(use.completionTokens),
  output_tokens_details: `{"reasoning_tokens":${use.reasoningTokens}}`,
  total_tokens: String(use.promptTokens + use.completionTokens),
  ...toolUseDetails(runs),
});

/** Tokens that came from the cache are not part of `input_tokens`. */
export const messagesCounters = (use: TokenUse, runs: ToolRuns): UsageFields => ({
  input_tokens: String(use.promptTokens - use.cachedTokens),
  cache_creation_input_tokens: '0',
  cache_read_input_tokens: String(use.cachedTokens),
  output_tokens: String(use.completionTokens),
  ...(runs === noRuns
    ? {}
    : { server_tool_use: `{"web_search_requests":${runs.searches},"web_fetch_requests":${runs.fetches}}` }),
});

function toolUseDetails(runs: ToolRuns): UsageFields {
  if (runs === noRuns) return {};
  const calls = runs.searches + runs.fetches;
  return {
    server_tool_use_details: `{"tool_calls_requested":${calls},"tool_calls_executed":${calls},"web_search_requests":${runs.searches}}`,
  };
}
