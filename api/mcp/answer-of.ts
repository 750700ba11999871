import type { Unavailable } from '#core/ledger/ledger.ts';
import { sentences } from './sentences.ts';
import type { ToolAnswer } from './tool.ts';

/** Of what is only read: a store that cannot answer is the one way to fail. */
export const answerOf = <Read extends object>(read: Read | Unavailable): ToolAnswer<Read> =>
  read === 'unavailable' ? { ok: false, sentence: sentences.unavailable } : { ok: true, record: read };
