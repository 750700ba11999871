import { z } from 'zod';
import { CHOICES_MAX } from '#core/limits.ts';
import type { ApiError } from './errors.ts';
import {
  answerTokens,
  expected,
  fallbackModels,
  jsonSchema,
  messageList,
  model,
  object,
  type ParsedRequest,
  parseRequest,
  Reasoning,
  stream,
  temperature,
  text,
  tokenCap,
  toolList,
  toolSteps,
  wholeNumber,
} from './request-fields.ts';

const CHAT_ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

const ImageUrl = object({
  url: text().meta({
    description: 'A public https link. Not inline data.',
    examples: ['https://example.com/cat.png'],
  }),
}).meta({ id: 'ImageUrl' });

const ContentPart = object({
  type: text().meta({ description: 'The kind of part.', examples: ['text', 'image_url'] }),
  text: text().nullish().meta({ description: 'Of a `text` part.' }),
  image_url: ImageUrl.nullish().meta({ description: 'Of an `image_url` part.' }),
}).meta({ id: 'ContentPart', description: 'One part of a message: text, or a link to an image.' });

const ChatMessage = object({
  role: z.enum(CHAT_ROLES, { error: `one of ${CHAT_ROLES.join(', ')}` }).meta({ description: 'Who speaks.' }),
  content: z
    .union([text(), z.array(ContentPart)], { error: 'a string or an array of part objects' })
    .nullish()
    .meta({
      description:
        'The text, or its parts. Required, except in an assistant message, which may hold only tool calls.',
    }),
}).meta({ id: 'ChatMessage' });
type ChatMessage = z.infer<typeof ChatMessage>;

const ToolFunction = object({
  name: text(),
  description: text().nullish(),
  parameters: jsonSchema('arguments'),
}).meta({ id: 'ToolFunction' });

const Tool = object({
  type: text().meta({ examples: ['function', 'openrouter:web_search'] }),
  function: ToolFunction.nullish(),
}).meta({ id: 'Tool', description: "A tool in the format's own shape." });

const TOOL_CHOICES = ['auto', 'none', 'required'] as const;
const ToolChoice = object({
  type: text(),
  function: object({ name: text() }).meta({ id: 'ToolChoiceFunction' }).nullish(),
}).meta({ id: 'ToolChoice', description: 'One function by name.' });

const JsonSchemaFormat = object({}).meta({
  id: 'JsonSchemaFormat',
  description: 'A `name`, a `schema` and, if wanted, `strict`.',
});

const ResponseFormat = object({
  type: text().meta({ examples: ['json_schema'] }),
  json_schema: JsonSchemaFormat.nullish().meta({ description: 'Required with the type `json_schema`.' }),
}).meta({ id: 'ResponseFormat' });

const StreamOptions = object({
  include_usage: z
    .boolean({ error: 'a boolean' })
    .nullish()
    .meta({ description: 'Adds a last chunk with the usage, cost included.' }),
}).meta({ id: 'StreamOptions' });

export const ChatCompletionRequest = object({
  model: model(),
  messages: messageList(ChatMessage),
  max_tokens: answerTokens(),
  max_completion_tokens: tokenCap().nullish().meta({ description: 'Another name of `max_tokens`.' }),
  n: wholeNumber(1, CHOICES_MAX)
    .nullish()
    .meta({ description: 'How many answers. The reserve covers them all.' }),
  stream: stream(),
  stream_options: StreamOptions.nullish(),
  temperature: temperature(),
  tools: toolList(Tool),
  tool_choice: z
    .union([z.enum(TOOL_CHOICES), ToolChoice], {
      error: `one of ${TOOL_CHOICES.join(', ')}, or an object that names one function`,
    })
    .nullish(),
  max_tool_calls: toolSteps(),
  response_format: ResponseFormat.nullish().meta({ description: 'Structured output.' }),
  reasoning: Reasoning.nullish(),
  models: fallbackModels(),
}).meta({
  id: 'ChatCompletionRequest',
  description: 'Any other field of the chat-completions format is accepted and passed on.',
});
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/**
 * Checks a parsed body. In `request`, null stands for an optional field that was not set. Empty `tools` and `models` became null,
 * because some generated clients send empty arrays for fields that the caller left out.
 */
export function parseChatRequest(body: unknown): ParsedRequest<ChatCompletionRequest> {
  const parsed = parseRequest(ChatCompletionRequest, body, 'messages');
  if (!parsed.ok) return parsed;
  const { request } = parsed;
  const refusal = refuseContents(request.messages) ?? refuseNameless(request) ?? refuseFormat(request);
  if (refusal !== null) return { ok: false, error: refusal };
  if (request.tools?.length === 0) request.tools = null;
  if (request.models?.length === 0) request.models = null;
  return parsed;
}

/** Roles whose messages may say nothing: an answer that only calls, and the result of a function without one. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['assistant', 'function']);

/** Checks the rules that depend on another field of the same message or part. */
function refuseContents(messages: readonly ChatMessage[]): ApiError | null {
  for (const [index, { role, content }] of messages.entries()) {
    const param = `messages[${index}].content`;
    if (content === undefined || content === null) {
      if (!MAY_BE_EMPTY.has(role)) return expected(param, 'a string or an array of part objects');
    } else if (typeof content !== 'string') {
      for (const [at, part] of content.entries()) {
        if (part.type === 'text' && typeof part.text !== 'string') {
          return expected(`${param}[${at}].text`, 'a string');
        }
        if (part.type === 'image_url' && !part.image_url) {
          return expected(`${param}[${at}].image_url`, 'an object');
        }
      }
    }
  }
  return null;
}

/** No server can run a function without a name; one that lets it pass would answer as if there were no tool. */
function refuseNameless({ tools, tool_choice: choice }: ChatCompletionRequest): ApiError | null {
  const nameless = (tools ?? []).findIndex(isNameless);
  if (nameless !== -1) return expected(`tools[${nameless}].function.name`, 'the name of a function');
  if (typeof choice !== 'object' || choice === null || !isNameless(choice)) return null;
  return expected('tool_choice.function.name', 'the name of one function');
}

const isNameless = (tool: { type: string; function?: { name: string } | null | undefined }): boolean =>
  tool.type === 'function' && !tool.function?.name;

function refuseFormat({ response_format: format }: ChatCompletionRequest): ApiError | null {
  if (format?.type !== 'json_schema' || format.json_schema) return null;
  return expected('response_format.json_schema', 'an object');
}
