import type { Reasoning, ToolChoice } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { onceByName } from './once-by-name.ts';
import type { UnsupportedFields } from './unsupported-fields.ts';

/** The members of `reasoning` in a chat body. `summary` asks for what is shown anyway, where reasoning is shown. */
export const CHAT_REASONING: ReadonlySet<string> = new Set([
  'effort',
  'max_tokens',
  'enabled',
  'exclude',
  'summary',
  'mode',
]);

/** Shares of the answer that common servers give to each effort, the nearest of which a budget counts as. */
const SHARES = { low: 0.2, medium: 0.5, high: 0.8 } as const;

/** All words for efforts, the least first. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The words that servers take of which nothing else is known. */
export const COMMON_EFFORTS = ['none', 'low', 'medium', 'high'];

/**
 * The word that a server has for an effort: the same, or the nearest of those that it takes, of two equally near the one for less.
 *
 * @param taken The least first; `null`: every word.
 * @returns `undefined` where reasoning is to be off, and the server has no word for that.
 */
export function takenEffort(effort: string, taken: readonly string[] | null): string | undefined {
  const wanted = EFFORTS.indexOf(effort);
  // A word that nobody knows is the server's own.
  if (taken === null || wanted < 0 || taken.includes(effort)) return effort;
  if (effort === 'none') return undefined;
  const distance = (word: string): number => Math.abs(EFFORTS.indexOf(word) - wanted);
  const words = taken.filter((word) => word !== 'none');
  return words.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** The effort that was asked for, by its name or by its budget; `undefined`: the server's own. */
export function effortOf({ effort, budgetTokens }: Reasoning, outputTokensCap: number): string | undefined {
  if (effort !== null) return effort;
  if (budgetTokens === null) return undefined;
  const share = budgetTokens / outputTokensCap;
  if (share < (SHARES.low + SHARES.medium) / 2) return 'low';
  return share < (SHARES.medium + SHARES.high) / 2 ? 'medium' : 'high';
}

/**
 * Whether a model that is asked in the messages format decides by itself how long it thinks, and refuses a budget: of
 * Claude those after 4.6, and those whose name has no version. Servers of other models read the budget.
 */
export function reasonsByEffort(upstreamModel: string): boolean {
  const version = claudeVersion(upstreamModel);
  return version !== null && isNewer(version, LAST_WITH_BUDGET);
}

/**
 * Whether a model of OpenAI reasons, and so gives its reasoning in encrypted form to a caller for whom nothing is stored. The models
 * with `-chat` in their names answer 400 to that wish.
 */
export const encryptsReasoning = (upstreamModel: string): boolean =>
  GPT_REASONER.test(upstreamModel.toLowerCase());

/** `gpt-5`, `openai/gpt-5.6-terra`, `o3`, `o4-mini`, `codex-mini-latest`. */
const GPT_REASONER =
  /(?:^|[/:])(?:o[134](?![\w.])|codex-mini|gpt-(?:[5-9]|[12]\d)(?:\.\d{1,2})?(?![\d.])(?!-chat))/;

export interface ClaudeVersion {
  major: number;
  minor: number;
}

/**
 * The version of Claude that a name stands for.
 *
 * @returns `null`: another vendor's model. A name without a version is that of the newest.
 */
export const claudeVersion = onceByName((upstreamModel): ClaudeVersion | null => {
  const name = upstreamModel.toLowerCase();
  if (!name.includes('claude')) return null;
  const version = CLAUDE_VERSION.exec(name);
  if (version === null) return { major: Number.POSITIVE_INFINITY, minor: 0 };
  return { major: Number(version[1]), minor: Number(version[2] ?? 0) };
});

export const isNewer = (one: ClaudeVersion, other: ClaudeVersion): boolean =>
  one.major > other.major || (one.major === other.major && one.minor > other.minor);

/** `claude-opus-4-7`, `claude-3-7-sonnet-20250219`, `claude-opus-4.8`: eight digits are a date. */
const CLAUDE_VERSION = /claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/;
const LAST_WITH_BUDGET = { major: 4, minor: 6 } as const;

/** Names the fields that ask for reasoning. */
export function nameReasoning(
  {
    reasoning_effort: named,
    reasoning: given,
    thinking,
    output_config: output,
  }: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): void {
  if (isRecord(thinking)) unsupported.leaveOut('thinking.type');
  if (isRecord(output) && (output.effort ?? null) !== null) unsupported.leaveOut('output_config.effort');
  if (named !== undefined && named !== null) unsupported.leaveOut('reasoning_effort');
  if (!isRecord(given)) return;
  for (const name of ['effort', 'max_tokens', 'enabled'])
    if ((given[name] ?? null) !== null) unsupported.leaveOut(`reasoning.${name}`);
}

type Members = Readonly<Record<string, unknown>>;

/** Whether a chat asks for reasoning. */
export const asksReasoning = ({ reasoning_effort: named, reasoning, thinking }: Members): boolean =>
  (isRecord(thinking) && thinking.type !== 'disabled') ||
  ((named ?? null) === null
    ? isRecord(reasoning) && reasoning.enabled !== false && reasoning.effort !== 'none'
    : named !== 'none');

/** Whether a chat asks for no reasoning. A field of its own counts before the member of `reasoning`. */
export const asksRest = (named: unknown, reasoning: unknown): boolean =>
  (named ?? null) === null
    ? isRecord(reasoning) && (reasoning.enabled === false || reasoning.effort === 'none')
    : named === 'none';

/** Whether a chat's choice of tool makes the model call one. */
export function isForced(choice: unknown): boolean {
  if (!isRecord(choice)) return choice === 'required';
  const { type, allowed_tools: allowed } = choice;
  return type === 'allowed_tools'
    ? isRecord(allowed) && allowed.mode === 'required'
    : type === 'function' || type === 'custom';
}

export const isForcedChoice = (choice: ToolChoice | null): boolean =>
  choice?.type === 'required' || choice?.type === 'tool';
