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
  /** The same of a chat alone. */
  refusedChatFields: ReadonlySet<string>;
  /** Which messages of a chat may stand where. */
  turns: TurnRules;
  /** It holds the answer of a chat to a JSON schema. Otherwise it is told the schema in words, and holds the answer to JSON. */
  takesSchemas: boolean;
  /** The schema of a function may be a choice or a sum of schemas at its top. Otherwise these are joined to one. */
  takesSchemaChoices: boolean;
  /** In a chat it takes tools of a plain text, and a choice that allows some of the tools. Otherwise it is sent functions alone. */
  takesCustomTools: boolean;
  /**
   * It reasons unless a chat has `thinking: {"type": "disabled"}`, and refuses to be held to call a tool while it reasons.
   */
  restsByThinking: boolean;
  /** The tags of the caller that a chat has in its own words when it is translated for this server. */
  chatTags: readonly ChatTag[];
  /** The member of an earlier answer in which its reasoning goes back; `null`: none is taken. */
  reasoningMember: 'reasoning' | 'reasoning_content' | null;
  /** It takes the reasoning of an earlier answer back as a part of type `thinking` before the others. */
  takesThinkingParts: boolean;
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

/** The tags of a caller that the formats of OpenAI have in common. */
export type ChatTag = 'user' | 'prompt_cache_key' | 'safety_identifier';

/** The roles and the order of messages. A server, or the template of a model, refuses a whole chat in another order. */
export interface TurnRules {
  /** It knows the role `developer`. Otherwise that role becomes `system`. */
  hasDeveloper: boolean;
  /**
   * Instructions may stand in one message alone, before all others. Later ones become words of the user. `null`: not known, so only a
   * translation is as careful.
   */
  systemFirst: boolean | null;
  /** The user may speak directly behind the result of a tool. Otherwise an answer is put between them. */
  userAfterResult: boolean;
  /** An earlier answer may lack its reasoning. Otherwise words stand in its place, in `reasoningMember`. */
  mayLackReasoning: boolean;
  /**
   * How an answer goes on that is the last message: where a member says so, or where the user asks for it in a message behind it. `null`: it
   * goes on by itself, or it is not known.
   */
  prefill: 'prefix' | 'partial' | 'asked' | null;
}

/** How long an id of a tool call is, and whether it has letters and digits alone. */
export interface CallIdRule {
  charsMin: number;
  charsMax: number;
  isAlphanumeric: boolean;
}

export type ImageSource = 'url' | 'inline';
