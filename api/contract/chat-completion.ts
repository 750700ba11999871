import { z } from 'zod';
import { usdNumber } from './money.ts';

/*
 * Only the document is made from these: answers pass through as the provider wrote them, with our
 * `usage.cost`, and are not parsed again.
 */

const count = () => z.int().nonnegative();

const ToolCall = z
  .looseObject({
    id: z.string(),
    type: z.string(),
    function: z
      .looseObject({ name: z.string(), arguments: z.string().meta({ description: 'JSON, as text.' }) })
      .meta({ id: 'CalledFunction' }),
  })
  .meta({ id: 'ToolCall' });

const CompletionMessage = z
  .looseObject({
    role: z.string().meta({ examples: ['assistant'] }),
    content: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  })
  .meta({ id: 'CompletionMessage' });

const finishReason = () =>
  z
    .enum(['stop', 'length', 'tool_calls', 'content_filter', 'error'])
    .nullish()
    .meta({ description: 'Null until the end of a stream.' });

const CompletionChoice = z
  .looseObject({ index: count(), message: CompletionMessage, finish_reason: finishReason() })
  .meta({ id: 'CompletionChoice' });

const CompletionUsage = z
  .looseObject({
    prompt_tokens: count().meta({ description: 'Tokens read.' }),
    completion_tokens: count().meta({ description: 'Tokens written, reasoning included.' }),
    total_tokens: count(),
    cost: usdNumber(),
  })
  .meta({ id: 'CompletionUsage' });

export const ChatCompletion = z
  .looseObject({
    id: z.string().meta({ description: "The answer's id." }),
    object: z.literal('chat.completion'),
    created: count().meta({ description: 'Unix seconds.' }),
    model: z.string(),
    choices: z.array(CompletionChoice),
    usage: CompletionUsage,
  })
  .meta({ id: 'ChatCompletion' });

const CompletionDelta = z
  .looseObject({
    role: z.string().nullish().meta({ description: 'In the first chunk.' }),
    content: z.string().nullish(),
    tool_calls: z
      .array(z.looseObject({ index: count() }).meta({ id: 'ToolCallDelta' }))
      .nullish()
      .meta({ description: 'Pieces of tool calls, joined by index.' }),
  })
  .meta({ id: 'CompletionDelta' });

const ChunkChoice = z
  .looseObject({ index: count(), delta: CompletionDelta, finish_reason: finishReason() })
  .meta({ id: 'ChunkChoice' });

const StreamError = z
  .looseObject({ message: z.string(), type: z.string(), code: z.string() })
  .meta({ id: 'StreamError', description: 'Ends the stream; what was written before it is charged.' });

export const ChatCompletionChunk = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: count().nullish(),
    model: z.string().nullish(),
    choices: z.array(ChunkChoice),
    usage: CompletionUsage.nullish().meta({
      description: 'In the last chunk, when `stream_options.include_usage` is true.',
    }),
    error: StreamError.nullish(),
  })
  .meta({ id: 'ChatCompletionChunk' });
