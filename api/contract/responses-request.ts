import { z } from 'zod';
import {
  answerTokens,
  fallbackModels,
  jsonSchema,
  model,
  object,
  type ParsedRequest,
  parseRequest,
  Reasoning,
  stream,
  temperature,
  text,
  toolList,
  toolSteps,
} from './request-fields.ts';

const InputPart = object({
  type: text().meta({ examples: ['input_text', 'input_image', 'output_text'] }),
  text: text().nullish().meta({ description: 'Of an `input_text` or `output_text` part.' }),
}).meta({ id: 'InputPart' });

const InputItem = object({
  type: text()
    .nullish()
    .meta({
      description: 'Absent means `message`.',
      examples: ['message', 'function_call', 'function_call_output', 'reasoning'],
    }),
  role: text()
    .nullish()
    .meta({ description: 'Of a message.', examples: ['user', 'assistant', 'system'] }),
  content: z
    .union([text(), z.array(InputPart)], { error: 'a string or an array of parts' })
    .nullish()
    .meta({ description: 'Of a message.' }),
}).meta({
  id: 'InputItem',
  description: 'A message, a tool call, its result, or an item of an earlier answer.',
});

const ResponsesTool = object({
  type: text().meta({ examples: ['function', 'web_search'] }),
  name: text().nullish(),
  description: text().nullish(),
  parameters: jsonSchema('arguments'),
}).meta({ id: 'ResponsesTool' });

export const ResponsesRequest = object({
  model: model(),
  input: z
    .union([text(), z.array(InputItem).min(1, { error: 'an array of at least one item' })], {
      error: 'a string or an array of input items',
    })
    .meta({ description: 'A prompt, or input items, oldest first. Nothing is stored between calls.' }),
  instructions: text().nullish().meta({ description: 'The system prompt.' }),
  max_output_tokens: answerTokens(),
  stream: stream(),
  temperature: temperature(),
  tools: toolList(ResponsesTool),
  max_tool_calls: toolSteps(),
  reasoning: Reasoning.nullish(),
  models: fallbackModels(),
}).meta({
  id: 'ResponsesRequest',
  description: 'Any other field of the responses format is accepted and passed on.',
});
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

export const parseResponsesRequest = (body: unknown): ParsedRequest<ResponsesRequest> =>
  parseRequest(ResponsesRequest, body, 'input');
