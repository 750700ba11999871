import { type AttoUsd, formatAttoUsd } from '#core/money.ts';
import type { TokenUse } from './prices.ts';
import type { Rule } from './script-rule.ts';
import { noRuns, type ToolRuns } from './server-tools.ts';

/** The `usage` record as JSON text: made by hand, so that the cost keeps every digit and a script may break it. */
export function usageText(use: TokenUse, costAtto: AttoUsd | null, rule: Rule, runs: ToolRuns): string {
  if (rule.usageText !== undefined) return rule.usageText;
  const fields: Record<string, string | null> = {
    prompt_tokens: String(use.promptTokens),
    completion_tokens: String(use.completionTokens),
    total_tokens: String(use.promptTokens + use.completionTokens),
    prompt_tokens_details: `{"cached_tokens":${use.cachedTokens}}`,
    completion_tokens_details: `{"reasoning_tokens":${use.reasoningTokens}}`,
    ...(runs === noRuns ? {} : { server_tool_use_details: toolUseText(runs) }),
    ...(costAtto === null ? {} : { cost: formatAttoUsd(costAtto), is_byok: 'false' }),
    ...rule.usageFields,
  };
  const members = Object.entries(fields).flatMap(([name, text]) =>
    text === null ? [] : [`"${name}":${text}`],
  );
  return `{${members.join(',')}}`;
}

export const toolUseText = ({ searches, fetches }: ToolRuns): string =>
  `{"tool_calls_requested":${searches + fetches},"tool_calls_executed":${searches + fetches},"web_search_requests":${searches}}`;
