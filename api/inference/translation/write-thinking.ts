import type {
  AskedModel,
  AssistantPart,
  Conversation,
  ReasoningPart,
  Turn,
} from '#core/conversation/conversation.ts';
import { isOwnReasoning } from '../../providers/signed-reasoning.ts';
import { effortOf, takenEffort } from '../formats/reasoning-words.ts';
import type { ClaudeLimits } from './claude-limits.ts';
import { isAsked } from './order-results.ts';

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
  const { outputTokensCap } = asked;
  if (reasoning?.enabled === false) {
    const off = limits === null ? 'disabled' : limits.thinkingOff;
    if (off !== null) return { type: off };
  }
  if (limits?.bindsThinking === true) return boundThinking(turns);
  const way = reasoning?.enabled === true ? wayToThink(conversation, asked, limits) : null;
  if (reasoning === null || way === null) return undefined;
  if (way === 'by_effort')
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

/** A model that thinks no more refuses the thinking of the answer to which it goes on, or all that is bound to its history. */
export const turnsFor = (
  { turns }: Conversation,
  limits: ClaudeLimits | null,
  thinking: Thinking | undefined,
): readonly Turn[] => {
  if (limits === null || isOn(thinking) || (thinking === undefined && limits.thinksUnasked)) return turns;
  const from = limits.bindsThinking ? 0 : stepBegin(turns);
  if (!turns.some((turn, index) => index >= from && hasReasoning(turn))) return turns;
  return turns.map((turn, index) => (index < from ? turn : withoutReasoning(turn)));
};

const withoutReasoning = (turn: Turn): Turn =>
  turn.role === 'assistant'
    ? { ...turn, parts: turn.parts.filter(({ type }) => type !== 'reasoning') }
    : turn;

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

/** How a model is told to think: by how hard, or by how long. */
type WayToThink = 'by_effort' | 'by_budget';

/**
 * A budget for thinking has a least size, and must leave room for the answer. The choice of a tool has meaning, so where a model
 * takes one of the two alone the reasoning is left out. With a budget, Claude goes on from the results of its calls only where
 * the thinking before them comes back, which most clients of other formats have not kept.
 *
 * @returns `null`: it cannot think in this call.
 */
function wayToThink(
  conversation: Pick<Conversation, 'toolChoice' | 'turns'>,
  { outputTokensCap, reasonsByEffort }: Pick<AskedModel, 'outputTokensCap' | 'reasonsByEffort'>,
  limits: ClaudeLimits | null,
): WayToThink | null {
  if (limits?.forcedTools === 'without_thinking' && forcesTool(conversation)) return null;
  if (reasonsByEffort) return 'by_effort';
  if (outputTokensCap <= BUDGET_TOKENS_MIN) return null;
  if (limits === null || !lacksThinking(conversation.turns)) return 'by_budget';
  return limits.takesEffort ? 'by_effort' : null;
}

export const canThink = (...asked: Parameters<typeof wayToThink>): boolean => wayToThink(...asked) !== null;

/** @returns Whether the conversation ends with results of calls before which the provider finds no thinking of its own. */
function lacksThinking(turns: readonly Turn[]): boolean {
  if (turns.at(-1)?.role === 'assistant') return false;
  const answers = turns.slice(stepBegin(turns)).filter((turn) => turn.role === 'assistant');
  // The provider thinks once before the first of the calls that follow each other.
  const [first] = answers.flatMap(({ parts }) => parts.filter(isSent));
  return first !== undefined && first.type !== 'reasoning';
}

/**
 * The model goes on with an answer of calls, their results and further calls.
 *
 * @returns The index of its first turn; that behind the last turn: the model begins a new answer.
 */
function stepBegin(turns: readonly Turn[]): number {
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  const goesOn =
    last === turns.length - 1 || turns.some(({ role }, index) => index > last && role === 'tool');
  if (last < 0 || !goesOn) return turns.length;
  return turns.findLastIndex((turn, index) => index < last && isAsked(turn)) + 1;
}

const isSent = (part: AssistantPart): boolean =>
  part.type === 'reasoning' ? isSentBack(part) : part.type !== 'text' || /\S/.test(part.text);

/** The provider refuses reasoning that it has not signed. */
export const isSentBack = ({ issuer, encrypted, signature }: ReasoningPart): boolean =>
  (issuer === undefined || isOwnReasoning(issuer.format)) &&
  (encrypted !== null || (signature !== null && signature !== ''));

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
  if (reasoning?.enabled !== true || wayToThink(conversation, asked, limits) !== 'by_effort')
    return undefined;
  const effort = effortOf(reasoning, asked.outputTokensCap);
  if (effort === undefined || asked.reasonsByEffort) return effort === 'minimal' ? LEAST_EFFORT : effort;
  return takenEffort(effort, FIRST_EFFORTS);
}

/** Those of the first models that took an effort. */
const FIRST_EFFORTS = ['low', 'medium', 'high'];

/** The least that the format has a word for. */
const LEAST_EFFORT = 'low';
