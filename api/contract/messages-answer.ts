import { z } from 'zod';
import { usdNumber } from './money.ts';

/*
 * Only the document is made from these: answers pass through as the provider wrote them, with our
 * `usage.cost`, and are not parsed again.
 */

const count = () => z.int().nonnegative();

const AnswerBlock = z
  .looseObject({
    type: z.string().meta({ examples: ['text', 'tool_use', 'thinking'] }),
    text: z.string().nullish().meta({ description: 'Of a `text` block.' }),
    id: z.string().nullish().meta({ description: 'Of a `tool_use` block.' }),
    name: z.string().nullish().meta({ description: 'Of a `tool_use` block.' }),
    input: z.record(z.string(), z.unknown()).nullish().meta({ description: 'Of a `tool_use` block.' }),
  })
  .meta({ id: 'AnswerBlock' });

const MessagesUsage = z
  .looseObject({
    input_tokens: count().nullish().meta({ description: 'Tokens read, those of the cache not counted.' }),
    output_tokens: count().meta({ description: 'Tokens written, thinking included.' }),
    cache_read_input_tokens: count().nullish(),
    cache_creation_input_tokens: count().nullish(),
    cost: usdNumber().nullish(),
  })
  .meta({ id: 'MessagesUsage' });

export const MessagesAnswer = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(AnswerBlock),
    stop_reason: z
      .string()
      .nullish()
      .meta({ examples: ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'] }),
    stop_sequence: z.string().nullish(),
    usage: MessagesUsage,
  })
  .meta({ id: 'MessagesAnswer' });

export const MessagesEvent = z
  .looseObject({
    type: z.string().meta({
      description: 'The same as the name of the event.',
      examples: [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
        'ping',
        'error',
      ],
    }),
    index: count().nullish(),
    message: MessagesAnswer.partial().nullish(),
    content_block: AnswerBlock.nullish(),
    delta: z.looseObject({ type: z.string().nullish(), text: z.string().nullish() }).nullish(),
    usage: MessagesUsage.nullish().meta({
      description: 'Of `message_delta`: totals so far; the last has the cost.',
    }),
    error: z.looseObject({ type: z.string(), message: z.string(), code: z.string() }).nullish(),
  })
  .meta({ id: 'MessagesStreamEvent' });
