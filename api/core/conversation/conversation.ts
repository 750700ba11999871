import type { CallIdRule, ChatTag, TurnRules } from '../catalog/dialect.ts';

/**
 * A request in no format's words: what a provider that does not speak the caller's format is asked. A reader makes it
 * of the caller's body, a writer makes the provider's body of it; what has no place in it cannot be translated.
 */
export interface Conversation extends Cached {
  system: readonly TextPart[];
  /** Oldest first. */
  turns: readonly Turn[];
  tools: readonly FunctionTool[];
  /** How the caller knows tools, by their names here; a tool that is not in it has the same name and kind there. */
  toolNames: ToolNames;
  toolChoice: ToolChoice | null;
  /** `null`: not said. */
  parallelToolCalls: boolean | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  stop: readonly string[];
  reasoning: Reasoning | null;
  answerFormat: AnswerFormat | null;
  /** How much the answer says: `low`, `medium` or `high`, and where the caller wrote it; `null`: not said. */
  verbosity: { level: string; at: string } | null;
  /** Tags that say for whom the call is, as the caller wrote them; missing: none. */
  tags?: Readonly<Partial<Record<ChatTag, string>>>;
}

export type Turn =
  /** Said in the middle of a conversation. `at`: where. */
  | { role: 'system'; parts: readonly TextPart[]; at: string }
  /** `name`: who of several speaks; missing: not said. */
  | { role: 'user'; parts: readonly UserPart[]; name?: string }
  | { role: 'assistant'; parts: AssistantPart[] }
  /** What the caller's code answered to one tool call. */
  | ({ role: 'tool'; callId: string; parts: readonly UserPart[]; failed: boolean } & Cached);

export interface TextPart extends Cached {
  type: 'text';
  text: string;
  /** It is part of an answer, and says why the model does not answer. */
  isRefusal?: true;
  /** Of an answer: the pages that it rests on. */
  citations?: Citation[];
}

/** The part of a prompt that a provider keeps for the next call ends with a thing that is marked. */
export interface Cached {
  cache?: CacheMark;
}

export interface CacheMark {
  /** How long it is kept: `5m` or `1h`; `null`: as long as the provider likes. */
  ttl: string | null;
}

export interface Citation {
  url: string;
  title: string;
  /** The characters of the part's text that it proves. */
  from: number;
  to: number;
}

export type UserPart =
  | TextPart
  | ({ type: 'image'; url: string; detail: string | null; at: string } & Cached)
  | ({ type: 'file'; url: string; filename: string | null; at: string } & Cached);

export type AssistantPart = TextPart | ReasoningPart | ToolCallPart;

/** Thought of an earlier answer. A provider takes back only what it has signed itself. */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  /** It is the reasoning itself, and no summary of it; missing: not known. */
  isRaw?: true;
  signature: string | null;
  /** Thought that nobody but the provider can read. */
  encrypted: string | null;
  /** The issuer of its signature, where a chat server passed it on; missing: a server of the messages format. */
  issuer?: ReasoningIssuer;
  /**
   * The provider signed the next tool call with this, or an earlier one that the text names, and wants it back with that call;
   * missing: it signed nothing.
   */
  callSignature?: string;
}

/** The vendor that signed or encrypted reasoning, in the words of the chat server that passed it on. */
export interface ReasoningIssuer {
  /** Such as `google-gemini-v1`; empty: not said. */
  format: string;
  /** The vendor's id of the reasoning; `null`: it has none. */
  id: string | null;
}

export interface ToolCallPart extends Cached {
  type: 'tool_call';
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  argumentsJson: string;
}

export interface FunctionTool extends Cached {
  name: string;
  description: string | null;
  /** A JSON Schema; `null`: any object. */
  parameters: unknown;
  /** The place of `parameters` in the caller's body; missing: they are not the caller's. */
  parametersAt?: string;
  strict: boolean | null;
  /** The place of `strict` in the caller's body; missing: the tool cannot have it. */
  strictAt?: string;
}

/** A tool as the caller knows it. */
export interface CallerTool {
  name: string;
  /** `null`: it stands in none. */
  namespace: string | null;
  /** It is called with a plain text. */
  isCustom: boolean;
  /** It is one of the `functions` that chats had before there were tools, and is called in that way. */
  isLegacy: boolean;
  /** The caller runs it, and it has a type of its own in place of a name; `null`: it has a name. */
  ownType: OwnToolType | null;
}

/** The types of tools that the caller runs, and that have items of their own in the responses format. */
export type OwnToolType = 'tool_search' | 'shell' | 'local_shell' | 'apply_patch';

export type ToolNames = ReadonlyMap<string, CallerTool>;

export type ToolChoice = { type: 'auto' | 'none' | 'required' } | { type: 'tool'; name: string };

/** The model that is asked, as far as it decides how a request is written. */
export interface AskedModel {
  /** The provider's name for it. */
  upstreamModel: string;
  /** What the answer will be capped at: budgets of thought are shares of it. */
  outputTokensCap: number;
  /** It decides by itself how long it thinks, and refuses a budget. */
  reasonsByEffort: boolean;
  /** The server's, as far as they decide the same. */
  dialect: AskedDialect;
}

/** How a server takes what other servers do not. */
export interface AskedDialect {
  /** The member of an earlier chat answer in which its reasoning goes back; `null`: none is taken. */
  reasoningMember: 'reasoning' | 'reasoning_content' | null;
  /** The words for an effort that it takes, the least first; `null`: every one. */
  efforts: readonly string[] | null;
  /** The ids of tool calls that it takes in a chat; `null`: all. */
  callIds: CallIdRule | null;
  /** It signs tool calls, and wants the signatures back. */
  signsCalls: boolean;
  takesVerbosity: boolean;
  /** It takes the reasoning of an earlier answer back as a part of type `thinking`. */
  takesThinkingParts: boolean;
  /** It takes back reasoning in `reasoning_details`, as routers pass on what vendors have signed. */
  takesReasoningDetails: boolean;
  /** Which messages of a chat may stand where. */
  turns: TurnRules;
  /** It holds the answer of a chat to a schema. */
  takesSchemas: boolean;
  /** The schema of a function may be a choice or a sum at its top. */
  takesSchemaChoices: boolean;
  /** Its reasoning is switched off by a field, which a call that must use a tool needs. */
  restsByThinking: boolean;
  /** The tags that it is sent in a chat. */
  chatTags: readonly ChatTag[];
}

export interface Reasoning {
  enabled: boolean;
  /** `low`, `medium` and so on; `null`: not said. */
  effort: string | null;
  budgetTokens: number | null;
}

export type AnswerFormat =
  | { type: 'json_object'; at: string }
  | {
      type: 'json_schema';
      at: string;
      name: string;
      description: string | null;
      schema: unknown;
      strict: boolean | null;
    };
