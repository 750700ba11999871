import { z } from 'zod';
import {
  answerTokens,
  fallbackModels,
  jsonSchema,
  messageList,
  model,
  object,
  type ParsedRequest,
  parseRequest,
  stream,
  temperature,
  text,
  tokenCap,
  toolList,
  toolSteps,
} from './request-fields.ts';

const ContentBlock = object({
  type: text().meta({
    description: 'The kind of block.',
    examples: ['text', 'image', 'tool_use', 'tool_result'],
  }),
  text: text().nullish().meta({ description: 'Of a `text` block.' }),
}).meta({
  id: 'ContentBlock',
  description: 'One block of a message: text, a link to an image or document, a tool call or its result.',
});

const MESSAGE_ROLES = ['user', 'assistant', 'system'] as const;

const Message = object({
  role: z
    .enum(MESSAGE_ROLES, { error: `one of ${MESSAGE_ROLES.join(', ')}` })
    .meta({ description: 'Who speaks.' }),
  content: z
    .union([text(), z.array(ContentBlock)], { error: 'a string or an array of content blocks' })
    .meta({ description: 'The text, or its blocks.' }),
}).meta({ id: 'Message' });

const MessagesTool = object({
  type: text()
    .nullish()
    .meta({
      description: 'Absent or `custom`: a tool that the caller runs.',
      examples: ['custom', 'web_search_20250305'],
    }),
  name: text().nullish(),
  description: text().nullish(),
  input_schema: jsonSchema('input'),
}).meta({ id: 'MessagesTool', description: 'A tool that the caller runs, or a web search or fetch.' });

const MessagesToolChoice = object({
  type: text().meta({ examples: ['auto', 'any', 'tool', 'none'] }),
  name: text().nullish().meta({ description: 'With the type `tool`.' }),
}).meta({ id: 'MessagesToolChoice' });

const Thinking = object({
  type: text().meta({ examples: ['enabled', 'adaptive', 'disabled'] }),
  budget_tokens: tokenCap().nullish().meta({ description: 'With the type `enabled`.' }),
}).meta({ id: 'Thinking', description: 'Thinking tokens are billed as output.' });

export const MessagesRequest = object({
  model: model(),
  messages: messageList(Message),
  max_tokens: answerTokens(),
  system: z
    .union([text(), z.array(ContentBlock)], { error: 'a string or an array of text blocks' })
    .nullish()
    .meta({ description: 'The system prompt.' }),
  stream: stream(),
  temperature: temperature(),
  tools: toolList(MessagesTool),
  tool_choice: MessagesToolChoice.nullish(),
  max_tool_calls: toolSteps(),
  thinking: Thinking.nullish(),
  models: fallbackModels(),
}).meta({
  id: 'MessagesRequest',
  description: 'Any other field of the messages format is accepted and passed on.',
});
export type MessagesRequest = z.infer<typeof MessagesRequest>;

export const parseMessagesRequest = (body: unknown): ParsedRequest<MessagesRequest> =>
  parseRequest(MessagesRequest, body, 'messages', 'system');
