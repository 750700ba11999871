import type { ReasoningIssuer } from './conversation.ts';

/** A provider's answer as it comes, in no format's words. */
export type AnswerPiece =
  /** The provider's id for the answer. It comes first, once. */
  | { type: 'start'; id: string }
  | { type: 'text'; text: string }
  /** The model says why it does not answer. */
  | { type: 'refusal'; text: string }
  /**
   * A page on which the text rests. `from` and `to`: the characters that it proves, counted over all text of the answer; missing: those
   * behind the citation before it.
   */
  | { type: 'citation'; url: string; title: string; from?: number; to?: number }
  /** `isRaw`: the reasoning itself, and no summary of it; missing: not known. */
  | { type: 'reasoning'; text: string; isRaw?: true }
  /**
   * The signature of all reasoning before it, with which the provider takes the reasoning back in a later call. Some models show no
   * reasoning, and sign it all the same. `ofReasoning`: the signature comes after other parts have begun, and is the whole one of the
   * part of reasoning with this number among those that began with text.
   */
  | { type: 'signature'; signature: string; issuer?: ReasoningIssuer; ofReasoning?: number }
  /** Reasoning that only the provider can read. */
  | { type: 'encrypted'; data: string; issuer?: ReasoningIssuer }
  /** The provider signed the tool call after it with this, or the call with the index `ofCall`, which has begun. */
  | { type: 'call_signature'; signature: string; ofCall?: number }
  | { type: 'tool_call'; index: number; id: string; name: string }
  /** A part of the JSON text of the arguments of the call with this index. */
  | { type: 'arguments'; index: number; json: string }
  | { type: 'finish'; reason: FinishReason; stopSequence: string | null };

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';
