import type { FinishReason } from '#core/conversation/answer-piece.ts';
import { isRecord } from '#core/is-record.ts';
import { textOf } from './values.ts';

/*
 * Why an answer ends. Servers have many more words for it than the format: some name the check that withheld the answer, some the
 * token that ended it. Clients know the words of the format alone, and an answer that was cut or withheld must not be told as a
 * good one.
 */

/**
 * The word for the end in a choice; empty: it goes on. Some servers write `null` as a text, and SGLang may write an object whose type is the
 * word.
 */
export function endWordOf(reason: unknown): string {
  const word = isRecord(reason) ? reason.type : reason;
  return word === 'null' ? '' : textOf(word);
}

/** @param word In the server's own way of writing; empty: it says none. */
export function endOf(word: string, hasCalls: boolean): FinishReason {
  const known = word === '' ? 'stop' : (KNOWN.get(word) ?? kindOf(word));
  // Some servers say `stop` after a call of a tool.
  return known === 'stop' && hasCalls ? 'tool_calls' : known;
}

/** The same of an answer whose calls are all known: one that calls nothing waits for no result. */
export function endOfWhole(word: string, hasCalls: boolean): FinishReason {
  const end = endOf(word, hasCalls);
  return end === 'tool_calls' && !hasCalls ? 'stop' : end;
}

/** The same in a word of the chat format, one of which is older than tools. */
export function chatEndOf(word: string, hasCalls: boolean): string {
  return KNOWN.has(word) ? word : endOf(word, hasCalls);
}

/** The meaning of a message's own word for its end. Some servers say that a turn has ended when they call a tool. */
export function endOfMessage(word: string, hasCalls: boolean): FinishReason {
  const known = MESSAGE_ENDS.get(word) ?? endOf(word, hasCalls);
  return known === 'stop' && word === 'end_turn' && hasCalls ? 'tool_calls' : known;
}

/** The word of the messages format for a server's own, where that says the same; `null`: it is shown as it came. */
export function messageWordOf(word: string): string | null {
  if (MESSAGE_ENDS.has(word)) return null;
  const kind = endOf(word, false);
  return kind === 'stop' && !KNOWN.has(word) ? null : messageWords[kind];
}

export const messageWords = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
} as const satisfies Record<FinishReason, string>;

/** The words of the messages format. */
const MESSAGE_ENDS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['compaction', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** The words of the chat format. */
const KNOWN: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['function_call', 'tool_calls'],
]);

/** A word of no kind, such as the text of a stop token, is an end like any other. */
function kindOf(word: string): FinishReason {
  const words = word.slice(0, WORD_CHARS).replaceAll(INNER_CAPITAL, '_$&');
  const parts = new Set(words.toLowerCase().split(NO_LETTERS));
  for (const [kind, names] of KINDS) if (names.some((name) => parts.has(name))) return kind;
  return 'stop';
}

const WORD_CHARS = 200;
const NO_LETTERS = /[^a-z]+/;
const INNER_CAPITAL = /(?<=[a-z])[A-Z]/g;

/**
 * Parts of the words that servers have, the kind that tells the caller more first: `function_call_filter` is an answer that was
 * withheld, and `max_tool_calls` one that was cut.
 */
const KINDS: readonly (readonly [FinishReason, readonly string[]])[] = [
  [
    'content_filter',
    [
      ...[
        'filter',
        'filtered',
        'safety',
        'sensitive',
        'prohibited',
        'blocklist',
        'blocked',
        'recitation',
        'spii',
      ],
      ...['refusal', 'refused', 'guardrail', 'guardrails', 'moderation', 'policy', 'toxic', 'violation'],
      // The model wrote a call that its server could not read, so the server shows nothing of it.
      ...['malformed', 'unexpected'],
    ],
  ],
  [
    'length',
    [
      ...['length', 'max', 'limit', 'exceeded', 'truncated', 'incomplete', 'context', 'budget'],
      ...['insufficient', 'timeout', 'abort', 'aborted', 'cancel', 'cancelled', 'canceled', 'interrupted'],
      ...['repetition', 'error'],
    ],
  ],
  ['tool_calls', ['tool', 'tools', 'function']],
];

/** Words for a model that failed: what came before is no answer, and another provider may give one. */
export const isFailedEnd = (word: unknown): boolean => typeof word === 'string' && FAILED.test(word);

const FAILED = /^(?:[a-z]{1,20}[_-])?error$/i;
