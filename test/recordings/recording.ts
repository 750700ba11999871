import type { FormatName } from '#core/catalog/catalog.ts';
import type { DialectName } from '../../api/providers/openai/dialects.ts';

/** One answer in the shape in which a vendor or server sends it, with words and numbers of our own. */
export interface Recording {
  vendor: string;
  /** The kind of answer, in a few words. */
  kind: string;
  format: FormatName;
  /** How an operator configures this vendor: a dialect of the kind `openai`, or a kind of its own. */
  provider: DialectName | 'openrouter' | 'anthropic';
  /** The events of its stream, without the mark at the end. */
  stream: readonly object[];
  /** The same answer to a caller that wants no stream. */
  whole: object;
  said: Said;
  tokens: Tokens;
  /** The answer names a version of the model and not the model that was asked for. */
  namesVersion?: true;
}

/** The content of an answer, in no format. */
export interface Said {
  text?: string;
  reasoning?: string;
  refusal?: string;
  calls?: readonly SaidCall[];
  /** Addresses that the text cites. */
  citations?: readonly string[];
  /** Must come back to the vendor, byte for byte, and to nobody else. */
  signatures?: readonly string[];
  /** The vendor behind a router that signed them, which may see them, too. */
  signedBy?: string;
  /** Default: `tool_calls` where tools are called, else `stop`. */
  end?: 'stop' | 'length' | 'tool_calls' | 'content_filter';
}

export interface SaidCall {
  /** Absent: the server gives none, so the gateway makes one. */
  id?: string;
  name: string;
  /** A text where the answer was cut within the arguments. */
  input: object | string;
  /** The part of a cut text that is whole, as the SDK of the messages format reads it. */
  wholePart?: object;
}

/** As the vendor bills them. */
export interface Tokens {
  /** All of the prompt. */
  prompt: number;
  /** The part of the prompt that was read from a cache. */
  cached?: number;
  /** The part that was written to one. */
  written?: number;
  /** All of the answer, its reasoning included. */
  completion: number;
}

export const nameOf = ({ vendor, kind }: Recording): string => `${vendor}: ${kind}`;

export const endOf = ({ end, calls }: Said): NonNullable<Said['end']> =>
  end ?? (calls === undefined ? 'stop' : 'tool_calls');

/** Most recordings say this. */
export const TEXT = 'Rain by noon.';
export const TEXT_PIECES = ['Rain', ' by', ' noon.'] as const;
export const THOUGHT = 'Two towns to check.';
export const THOUGHT_PIECES = ['Two towns', ' to check.'] as const;
export const OSLO = '{"town":"Oslo"}';
export const BERGEN = '{"town":"Bergen"}';
/** Both calls, under the ids that the vendor gives them. */
export const bothCalls = (first?: string, second?: string): SaidCall[] => [
  { ...(first === undefined ? {} : { id: first }), name: 'weather', input: { town: 'Oslo' } },
  { ...(second === undefined ? {} : { id: second }), name: 'weather', input: { town: 'Bergen' } },
];
/** The arguments in pieces, as most servers stream them. */
export const piecesOf = (json: string): string[] => [json.slice(0, 8), json.slice(8)];
