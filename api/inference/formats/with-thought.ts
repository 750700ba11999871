import { isRecord } from '#core/is-record.ts';

/**
 * A cap on the answer, with the room that a budget of thought may take beyond it: with tools a model may think past the
 * cap, as far as its budget goes. Either word may be heard, whatever the format. `null`: no cap.
 */
export function withThought(
  cap: number | null,
  { reasoning, thinking }: Readonly<Record<string, unknown>>,
): number | null {
  if (cap === null) return null;
  const budgets = [
    isRecord(reasoning) ? reasoning.max_tokens : null,
    isRecord(thinking) ? thinking.budget_tokens : null,
  ];
  // What is no number is refused by `field-policy.ts`.
  return budgets.reduce<number>(
    (most, budget) => (Number.isSafeInteger(budget) ? Math.max(most, Number(budget)) : most),
    cap,
  );
}
