import type { ChatReply } from './chat-render.ts';
import type { ErrorBody } from './error-body.ts';
import type { Rule } from './script-rule.ts';

/** One wire format of inference: how its requests are read and its answers written. What is answered is the same. */
export interface SimFormat {
  path: '/chat/completions' | '/responses' | '/messages';
  /** The same request in the chat format, as far as the simulator heeds it. */
  toChat(body: unknown): unknown;
  json(reply: ChatReply): string;
  /** Every event of the stream, in order. */
  events(reply: ChatReply): SimEvent[];
  refusal(status: number, message: string, type?: string): ErrorBody;
  errorBody(status: number, error: NonNullable<Rule['error']>): ErrorBody;
}

export interface SimEvent {
  /** `null`: the format names none. */
  name: string | null;
  json: string;
  /** Of the answer's own text in it: what was delivered so far decides what a cut stream costs. */
  textBytes: number;
}
