import { isRecord } from '#core/is-record.ts';
import { SERVER_TOOL_PROMPT_TOKENS, TOOL_USE_PROMPT_TOKENS, TOOLSET_PROMPT_TOKENS } from '#core/limits.ts';

/**
 * What a provider tells the model of tools beyond the bytes of the body: how tools are used, and what tools of its own are,
 * of which the body has a type alone. Those that it runs itself are counted beside this, with their results.
 */
export function toolPromptTokens({ tools }: Readonly<Record<string, unknown>>): number {
  if (!Array.isArray(tools) || tools.length === 0) return 0;
  return tools.reduce((sum: number, tool) => sum + ownPromptTokens(tool), TOOL_USE_PROMPT_TOKENS);
}

function ownPromptTokens(tool: unknown): number {
  const type = isRecord(tool) && typeof tool.type === 'string' ? tool.type : 'custom';
  if (DESCRIBED_BY_CALLER.has(type)) return 0;
  return type.includes('toolset') ? TOOLSET_PROMPT_TOKENS : SERVER_TOOL_PROMPT_TOKENS;
}

const DESCRIBED_BY_CALLER: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);
