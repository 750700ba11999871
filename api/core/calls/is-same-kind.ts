import type { CallFacts } from '../events/ledger-event.ts';

/** Calls of one kind differ in nothing that a call record shows besides time, key, tokens and money. */
export const isSameKind = (a: CallFacts, b: CallFacts): boolean =>
  a.model === b.model && a.modelName === b.modelName && a.endpoint === b.endpoint && a.stream === b.stream;
