import type { Turn } from '#core/conversation/conversation.ts';

/** The calls of one answer that have the same id there, under ids that no other call of the conversation has. */
interface EarlierCalls {
  ids: string[];
  /** The turn that called, with the results behind it. */
  group: Turn[];
  results: number;
}

/**
 * Puts the results of tools directly behind the answer that called them, before anything else: some formats let the user speak in
 * between, and others refuse a call whose result does not follow.
 *
 * Some servers use the same ids in every answer, or none, and others refuse a conversation in which an id stands twice. So a call
 * whose id an earlier one has gets another, and a result belongs to the last answer before it with a call of its id: to the first
 * such call that has no result yet.
 */
export function orderResults(turns: readonly Turn[]): readonly Turn[] {
  if (turns.every(isAsked)) return turns;
  const groups: Turn[][] = [];
  const calls = new Map<string, EarlierCalls>();
  const ids = new CallIds(turns);
  for (const turn of turns) {
    const called = turn.role === 'tool' ? calls.get(turn.callId) : undefined;
    if (turn.role === 'tool' && called !== undefined) {
      const callId = called.ids[called.results++] ?? called.ids.at(-1) ?? turn.callId;
      called.group.push(callId === turn.callId ? turn : { ...turn, callId });
      continue;
    }
    const group: Turn[] = [];
    groups.push(group);
    group.push(turn.role === 'assistant' ? withOwnIds(turn, group, calls, ids) : turn);
  }
  return groups.flat();
}

/** Whether a turn has neither a call nor a result in it. */
export const isAsked = ({ role }: Turn): boolean => role === 'user' || role === 'system';

function withOwnIds(
  turn: Extract<Turn, { role: 'assistant' }>,
  group: Turn[],
  calls: Map<string, EarlierCalls>,
  ids: CallIds,
): Turn {
  const parts = turn.parts.map((part) => {
    if (part.type !== 'tool_call') return part;
    const id = ids.take(part.id);
    const called = calls.get(part.id);
    if (called?.group === group) called.ids.push(id);
    else calls.set(part.id, { ids: [id], group, results: 0 });
    return id === part.id ? part : { ...part, id };
  });
  return { ...turn, parts };
}

class CallIds {
  readonly #taken = new Set<string>();
  /** All ids that the caller wrote, none of which another call may be given. */
  readonly #written: ReadonlySet<string>;
  /** By an id, the last number behind it. */
  readonly #numbers = new Map<string, number>();

  constructor(turns: readonly Turn[]) {
    const parts = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []));
    this.#written = new Set(parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])));
  }

  /** The id itself, unless it is empty or an earlier call has it. */
  take(id: string): string {
    let own = id;
    while (own === '' || this.#taken.has(own) || (own !== id && this.#written.has(own))) {
      const number = (this.#numbers.get(id) ?? 1) + 1;
      this.#numbers.set(id, number);
      own = `${id || 'call'}_${number}`;
    }
    this.#taken.add(own);
    return own;
  }
}
