import type { Turn } from '#core/conversation/conversation.ts';

/**
 * Puts the results of tools directly behind the answer that called them, before anything else: some formats let the user speak in
 * between, and others refuse a call whose result does not follow.
 *
 * A result belongs to the last answer before it with a call of its id, because some servers use the same ids in every answer.
 */
export function orderResults(turns: readonly Turn[]): readonly Turn[] {
  const groups: Turn[][] = [];
  const callers = new Map<string, Turn[]>();
  for (const turn of turns) {
    const caller = turn.role === 'tool' ? callers.get(turn.callId) : undefined;
    if (caller !== undefined) {
      caller.push(turn);
      continue;
    }
    const group = [turn];
    groups.push(group);
    if (turn.role !== 'assistant') continue;
    for (const part of turn.parts) if (part.type === 'tool_call') callers.set(part.id, group);
  }
  return groups.flat();
}
