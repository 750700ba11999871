import type { AskedModel, Conversation, Turn } from '#core/conversation/conversation.ts';
import { effortOf } from '../formats/reasoning-words.ts';
import type { ClaudeLimits } from './claude-limits.ts';

/** How a model that is asked in the messages format is told to think. */
export interface Thinking {
  type: 'disabled' | 'between_tools' | 'adaptive' | 'enabled';
  budget_tokens?: number;
  display?: 'summarized';
  block_binding?: { prefix_mismatch_behavior: 'drop_block' };
}

/** Shares of the answer that an effort may think for, as common routers have it. */
const SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8 };
const SHARE_OF_MORE = 0.95;
const BUDGET_TOKENS_MIN = 1_024;

/** @returns `undefined`: the model is told nothing. */
export function writeThinking(
  conversation: Conversation,
  asked: AskedModel,
  limits: ClaudeLimits | null,
): Thinking | undefined {
  const { reasoning, turns } = conversation;
  const { outputTokensCap, reasonsByEffort } = asked;
  if (reasoning?.enabled === false) {
    const off = limits === null ? 'disabled' : limits.thinkingOff;
    if (off !== null) return { type: off };
  }
  if (limits?.bindsThinking === true) return boundThinking(turns);
  if (reasoning?.enabled !== true || !canThink(conversation, asked, limits)) return undefined;
  if (reasonsByEffort)
    return { type: 'adaptive', ...(limits?.hidesThinking === true && { display: 'summarized' }) };
  const share = SHARES[reasoning.effort ?? 'medium'] ?? SHARE_OF_MORE;
  const budget = reasoning.budgetTokens ?? Math.floor(share * outputTokensCap);
  return {
    type: 'enabled',
    budget_tokens: Math.min(Math.max(budget, BUDGET_TOKENS_MIN), outputTokensCap - 1),
  };
}

/**
 * The words for what the model does anyway, so that it shows what it says between calls. A client of another format may
 * shorten its history, after which earlier thinking counts for nothing and would fail the call.
 */
function boundThinking(turns: readonly Turn[]): Thinking {
  const shown: Thinking = { type: 'adaptive', display: 'summarized' };
  return turns.some(hasReasoning)
    ? { ...shown, block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    : shown;
}

const hasReasoning = (turn: Turn): boolean =>
  turn.role === 'assistant' && turn.parts.some(({ type }) => type === 'reasoning');

export const isOn = (thinking: Thinking | undefined): boolean =>
  thinking?.type === 'adaptive' || thinking?.type === 'enabled';

/** A model that thinks no more takes no thinking back that is bound to its history. */
export const turnsFor = (
  { turns }: Conversation,
  limits: ClaudeLimits | null,
  thinking: Thinking | undefined,
): readonly Turn[] =>
  limits?.bindsThinking !== true || isOn(thinking) || !turns.some(hasReasoning)
    ? turns
    : turns.map((turn) =>
        turn.role === 'assistant'
          ? { ...turn, parts: turn.parts.filter(({ type }) => type !== 'reasoning') }
          : turn,
      );

/** The fields of a translation that a server takes with their betas alone. */
export const betaFieldsIn = ({ thinking }: { thinking?: Thinking | undefined }): readonly string[] =>
  thinking?.block_binding === undefined ? [] : BOUND;

const BOUND = ['thinking.block_binding'];

const forcesTool = ({ toolChoice }: Pick<Conversation, 'toolChoice'>): boolean =>
  toolChoice?.type === 'required' || toolChoice?.type === 'tool';

/** Some models call no tool by force. */
export const cannotForce = (
  conversation: Pick<Conversation, 'toolChoice'>,
  limits: ClaudeLimits | null,
): boolean => limits?.forcedTools === 'never' && forcesTool(conversation);

/**
 * A budget for thinking has a least size, and must leave room for the answer. The choice of a tool has meaning, so where a model
 * takes one of the two alone the reasoning is left out.
 */
export const canThink = (
  conversation: Pick<Conversation, 'toolChoice'>,
  { outputTokensCap, reasonsByEffort }: Pick<AskedModel, 'outputTokensCap' | 'reasonsByEffort'>,
  limits: ClaudeLimits | null,
): boolean =>
  (reasonsByEffort || outputTokensCap > BUDGET_TOKENS_MIN) &&
  !(limits?.forcedTools === 'without_thinking' && forcesTool(conversation));

/** Whether a wish for no reasoning is lost, because the model always thinks. */
export const cannotRest = ({ reasoning }: Pick<Conversation, 'reasoning'>, limits: ClaudeLimits | null) =>
  reasoning?.enabled === false && limits?.thinkingOff === null;

/** How hard a model thinks that decides by itself how long; `undefined`: as hard as it likes. */
export function writeEffort(
  conversation: Conversation,
  asked: AskedModel,
  limits: ClaudeLimits | null,
): string | undefined {
  const { reasoning } = conversation;
  if (cannotRest(conversation, limits)) return LEAST_EFFORT;
  if (!asked.reasonsByEffort || reasoning?.enabled !== true || !canThink(conversation, asked, limits))
    return undefined;
  const effort = effortOf(reasoning, asked.outputTokensCap);
  return effort === 'minimal' ? LEAST_EFFORT : effort;
}

/** The least that the format has a word for. */
const LEAST_EFFORT = 'low';
