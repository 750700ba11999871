/** Messages, items or turns of a conversation that are translated in one turn of the event loop. Each may take some microseconds. */
export const TURNS_AT_ONCE = 4_000;
