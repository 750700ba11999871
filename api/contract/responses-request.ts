import { z } from 'zod';
import { TOOLS_MAX } from '#core/limits.ts';
import { describeIssue } from './describe-issue.ts';
import type { ApiError } from './errors.ts';
import { parseInPieces } from './parse-in-pieces.ts';
import {
  fallbackModels,
  model,
  object,
  Reasoning,
  stream,
  TOOLS,
  temperature,
  text,
  tokenCap,
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
  parameters: z
    .record(z.string(), z.unknown(), { error: 'an object' })
    .nullish()
    .meta({ description: 'A JSON Schema of the arguments.' }),
}).meta({ id: 'ResponsesTool' });

export const ResponsesRequest = object({
  model: model(),
  input: z
    .union([text(), z.array(InputItem).min(1, { error: 'an array of at least one item' })], {
      error: 'a string or an array of input items',
    })
    .meta({ description: 'A prompt, or input items, oldest first. Nothing is stored between calls.' }),
  instructions: text().nullish().meta({ description: 'The system prompt.' }),
  max_output_tokens: tokenCap().nullish().meta({
    description:
      "Longest answer in tokens. Without it the reserve covers the model's whole output; less reserves less.",
  }),
  stream: stream(),
  temperature: temperature(),
  tools: z
    .array(ResponsesTool, { error: 'an array of tools' })
    .max(TOOLS_MAX, { error: `an array of at most ${TOOLS_MAX} tools` })
    .nullish()
    .meta({ description: TOOLS }),
  max_tool_calls: toolSteps(),
  reasoning: Reasoning.nullish(),
  models: fallbackModels(),
}).meta({
  id: 'ResponsesRequest',
  description: 'Any other field of the responses format is accepted and passed on.',
});
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

export type ParsedResponsesRequest = { ok: true; request: ResponsesRequest } | { ok: false; error: ApiError };

export function parseResponsesRequest(body: unknown): ParsedResponsesRequest {
  const parsed = parseInPieces(ResponsesRequest, body, 'input');
  return parsed.success
    ? { ok: true, request: parsed.data }
    : { ok: false, error: describeIssue(parsed.error.issues, body) };
}
