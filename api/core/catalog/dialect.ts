import type { FormatName } from './catalog.ts';

/**
 * How one server differs from others that speak the same formats, as far as the gateway acts on it. Answers are read alike from
 * all servers: every known variant of usage, reasoning and errors is understood whichever server sends it.
 */
export interface Dialect {
  /** Spoken where the operator names none. */
  formats: readonly FormatName[];
  /** The vendor's own addresses: nobody has to say what is spoken there. */
  hosts: readonly string[];
  /** The one name of a chat's output cap that every version and model of this server heeds. */
  capField: 'max_tokens' | 'max_completion_tokens';
  /** `inline`: it reads no links, or would follow them from inside the operator's network. */
  images: ImageSource;
  /** The only fields that may be sent. `null`: those that nobody knows pass. */
  fields: Readonly<Record<FormatName, ReadonlySet<string>>> | null;
  /**
   * The format of an answer may only be text, JSON or a JSON schema: a pattern or a grammar can hold up a server that the operator
   * runs for all callers.
   */
  knownAnswerFormatsOnly: boolean;
  /** Fields that it answers with an error; `messages[].name` stands for that of any message. */
  refusedFields: ReadonlySet<string>;
  /** The member of an earlier answer in which its reasoning goes back; `null`: none is taken. */
  reasoningMember: 'reasoning' | 'reasoning_content' | null;
  /** It passes on signed reasoning of vendors in `reasoning_details`, and takes it back there. */
  takesReasoningDetails: boolean;
  /** The members of an earlier chat answer that it takes, besides those for reasoning; `null`: not known, so all pass as sent. */
  answerMembers: ReadonlySet<string> | null;
  /** The types of parts in an earlier answer that it takes and others do not. */
  answerParts: ReadonlySet<string>;
  /** The words for an effort that it takes, the least first; `null`: not known. */
  efforts: readonly string[] | null;
  /** The ids of tool calls that it takes, by format; a format that is missing: all. */
  callIds: Readonly<Partial<Record<FormatName, CallIdRule>>>;
  /** It signs tool calls of a chat, and refuses a call that comes back unsigned. */
  signsCalls: boolean;
  /** Members of answers that name the vendor, or our account there: no caller sees them. */
  vendorFields: readonly string[];
  /** Where its cache of prompts, which all callers share, is kept apart by a salt of each agent. */
  saltedFormats: readonly FormatName[];
}

/** How long an id of a tool call is, and whether it has letters and digits alone. */
export interface CallIdRule {
  charsMin: number;
  charsMax: number;
  isAlphanumeric: boolean;
}

export type ImageSource = 'url' | 'inline';
