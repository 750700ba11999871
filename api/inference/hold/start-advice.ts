import { minBigint, type NanoUsd } from '#core/money.ts';
import type { CallPlan } from '../admit/call-plan.ts';
import { holdWithCap, largestFittingCap } from '../price/estimate.ts';

/** A member of the request to change, by its path; `null`: to leave out. */
export interface Change {
  field: string;
  value: number | null;
}

/** A refused caller can make these changes, and reads these words. Both come from here, so they cannot differ. */
export interface Fit {
  /** With these changes the call fits; `null`: no change of a number makes it fit. */
  changes: readonly Change[] | null;
  /** The least that such a call holds, where nothing fits and it is known. */
  needNanoUsd: NanoUsd | null;
  /** Whole sentences. */
  words: string;
}

/** How a start that does not fit can be made to, in the words of what was asked for. */
export interface StartAdvice {
  /** The field that decides most of the hold. */
  param: string | null;
  /** @param remedy What else helps where nothing fits: the end of a sentence. */
  fit(availableNanoUsd: NanoUsd, remedy: string): Fit;
}

/** An agent's bounds at the moment of a refusal. `null`: there is no such bound. */
export interface StartRoom {
  /** The most that any one call may hold, however long its caller waits. */
  ceilingNanoUsd: NanoUsd;
  shareLeftNanoUsd: NanoUsd | null;
  key: KeyRoom | null;
  spendableNanoUsd: NanoUsd;
  heldNanoUsd: NanoUsd;
}

export interface KeyRoom {
  limitNanoUsd: NanoUsd;
  leftNanoUsd: NanoUsd;
  heldNanoUsd: NanoUsd;
  resetsAtMs: number;
}

/** Returns the largest hold that fits all bounds at once. */
export function fitsNow(room: StartRoom): NanoUsd {
  let least = minBigint(room.ceilingNanoUsd, room.spendableNanoUsd);
  if (room.shareLeftNanoUsd !== null) least = minBigint(least, room.shareLeftNanoUsd);
  if (room.key !== null) least = minBigint(least, room.key.leftNanoUsd);
  return least;
}

export const adviseText = (plan: CallPlan): StartAdvice => ({
  param: plan.outputCapField,
  fit: (availableNanoUsd, remedy) => fitText(plan, availableNanoUsd, remedy),
});

function fitText(plan: CallPlan, availableNanoUsd: NanoUsd, remedy: string): Fit {
  const least = leastOutputTokens(plan);
  const cap = fittingCap(plan, availableNanoUsd);
  if (cap !== null) return { changes: capChanges(plan, cap), needNanoUsd: null, words: capWords(plan, cap) };
  for (let choices = plan.choices - 1; choices > 0; choices--) {
    const fewer = { ...plan, choices };
    const fitting = fittingCap(fewer, availableNanoUsd);
    if (fitting === null) continue;
    return {
      changes: [{ field: 'n', value: choices }, ...capChanges(plan, fitting)],
      needNanoUsd: null,
      words: `The largest \`n\` that fits is ${choices}. ${capWords(plan, fitting)}`,
    };
  }
  const needNanoUsd = holdWithCap({ ...plan, choices: 1 }, least);
  const answer = least === 1 ? 'one token' : `${least} tokens`;
  const words = `Not even an answer of ${answer} fits: ${lessToolSteps(plan)}shorten the prompt, ${remedy}.`;
  return { changes: null, needNanoUsd, words };
}

function fittingCap(plan: CallPlan, availableNanoUsd: NanoUsd): number | null {
  const cap = largestFittingCap(plan, availableNanoUsd);
  return cap === null || cap < leastOutputTokens(plan) ? null : cap;
}

function capChanges(plan: CallPlan, cap: number): Change[] {
  const changes: Change[] = [{ field: plan.outputCapField, value: cap }];
  for (const { field, tokens } of plan.outputCaps)
    if (field !== plan.outputCapField && tokens > cap) changes.push({ field, value: cap });
  for (const { field, tokens } of plan.budgets)
    if (tokens >= cap) changes.push({ field, value: cap > BUDGET_TOKENS_MIN ? cap - 1 : null });
  return changes;
}

/** A budget of reasoning may be used beyond the cap, so it must be lowered with it. */
function capWords(plan: CallPlan, cap: number): string {
  const others = capChanges(plan, cap)
    .slice(1)
    .map(({ field, value }) =>
      value === null
        ? ` Leave \`${field}\` out: no budget is that small.`
        : ` Lower \`${field}\` to ${value}, too.`,
    );
  return `The largest \`${plan.outputCapField}\` that fits is ${cap}.${others.join('')}`;
}

/** Servers of the messages format refuse a smaller budget, and one that is not below the cap. */
const BUDGET_TOKENS_MIN = 1_024;

/** OpenAI's servers of the responses format refuse a smaller cap. */
const leastOutputTokens = ({ format }: CallPlan): number => (format.name === 'responses' ? 16 : 1);

/** Each step of a search or fetch reads everything again: most of such a hold is steps. */
const lessToolSteps = ({ candidates }: CallPlan): string =>
  candidates.some(({ serverTools }) => (serverTools?.stepsMax ?? 0) > 1)
    ? 'send a lower `max_tool_calls`, '
    : '';
