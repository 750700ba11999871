import type { Steps, Work } from '#core/steps.ts';

/** Messages, items or turns of a conversation that are translated in one turn of the event loop. Each may take some microseconds. */
export const TURNS_AT_ONCE = 4_000;

/**
 * Does something with each of the turns of a conversation, in their order.
 *
 * @param end Called behind the last one. Its result is that of the whole.
 */
export function forEachTurn<Turn, T>(
  turns: readonly Turn[],
  take: (turn: Turn, index: number) => void,
  end: () => T,
): Work<T> {
  if (turns.length > TURNS_AT_ONCE) return takeInSteps(turns, take, end);
  turns.forEach(take);
  return end();
}

function* takeInSteps<Turn, T>(
  turns: readonly Turn[],
  take: (turn: Turn, index: number) => void,
  end: () => T,
): Steps<T> {
  for (const [index, turn] of turns.entries()) {
    take(turn, index);
    if (index % TURNS_AT_ONCE === TURNS_AT_ONCE - 1) yield 'turns';
  }
  return end();
}
