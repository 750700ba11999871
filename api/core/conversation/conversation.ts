/**
 * A request in no format's words: what a provider that does not speak the caller's format is asked. A reader makes it
 * of the caller's body, a writer makes the provider's body of it; what has no place in it cannot be translated.
 */
export interface Conversation {
  system: readonly TextPart[];
  /** Oldest first. */
  turns: readonly Turn[];
  tools: readonly FunctionTool[];
  toolChoice: ToolChoice | null;
  /** `null`: not said. */
  parallelToolCalls: boolean | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  stop: readonly string[];
  reasoning: Reasoning | null;
  answerFormat: AnswerFormat | null;
}

export type Turn =
  /** Said in the middle of a conversation. `at`: where. */
  | { role: 'system'; parts: readonly TextPart[]; at: string }
  | { role: 'user'; parts: readonly UserPart[] }
  | { role: 'assistant'; parts: AssistantPart[] }
  /** What the caller's code answered to one tool call. */
  | { role: 'tool'; callId: string; parts: readonly UserPart[]; failed: boolean };

export interface TextPart {
  type: 'text';
  text: string;
  /** Of an answer: the pages that it rests on. */
  citations?: Citation[];
}

export interface Citation {
  url: string;
  title: string;
  /** Characters of the part's text before it. */
  at: number;
}

export type UserPart =
  | TextPart
  | { type: 'image'; url: string; detail: string | null; at: string }
  | { type: 'file'; url: string; filename: string | null; at: string };

export type AssistantPart = TextPart | ReasoningPart | ToolCallPart;

/** Thought of an earlier answer. A provider takes back only what it has signed itself. */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  signature: string | null;
  /** Thought that nobody but the provider can read. */
  encrypted: string | null;
}

export interface ToolCallPart {
  type: 'tool_call';
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  argumentsJson: string;
}

export interface FunctionTool {
  name: string;
  description: string | null;
  /** A JSON Schema; `null`: any object. */
  parameters: unknown;
  strict: boolean | null;
}

export type ToolChoice = { type: 'auto' | 'none' | 'required' } | { type: 'tool'; name: string };

/** The model that is asked, as far as it decides how a request is written. */
export interface AskedModel {
  /** The provider's name for it. */
  upstreamModel: string;
  /** What the answer will be capped at: budgets of thought are shares of it. */
  outputTokensCap: number;
  /** It decides by itself how long it thinks, and refuses a budget. */
  reasonsByEffort: boolean;
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
      name: string;
      description: string | null;
      schema: unknown;
      strict: boolean | null;
    };
