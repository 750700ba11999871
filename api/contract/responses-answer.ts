import { z } from 'zod';
import { usdNumber } from './money.ts';

/*
 * Only the document is made from these: answers pass through as the provider wrote them, with our
 * `usage.cost`, and are not parsed again.
 */

const count = () => z.int().nonnegative();

const OutputPart = z
  .looseObject({
    type: z.string().meta({ examples: ['output_text', 'refusal'] }),
    text: z.string().nullish().meta({ description: 'Of an `output_text` part.' }),
  })
  .meta({ id: 'OutputPart' });

const OutputItem = z
  .looseObject({
    type: z.string().meta({ examples: ['message', 'reasoning', 'function_call'] }),
    id: z.string().nullish(),
    role: z.string().nullish().meta({ description: 'Of a message.' }),
    content: z.array(OutputPart).nullish().meta({ description: 'Of a message.' }),
    call_id: z.string().nullish().meta({ description: 'Of a tool call.' }),
    name: z.string().nullish().meta({ description: 'Of a tool call.' }),
    arguments: z.string().nullish().meta({ description: 'Of a function call: JSON, as text.' }),
  })
  .meta({ id: 'OutputItem' });

const ResponsesUsage = z
  .looseObject({
    input_tokens: count().meta({ description: 'Tokens read.' }),
    output_tokens: count().meta({ description: 'Tokens written, reasoning included.' }),
    total_tokens: count(),
    cost: usdNumber().nullish(),
  })
  .meta({ id: 'ResponsesUsage' });

export const ResponsesAnswer = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: count().nullish(),
    status: z.string().meta({ examples: ['completed', 'incomplete', 'in_progress'] }),
    model: z.string(),
    output: z.array(OutputItem),
    output_text: z.string().nullish().meta({ description: 'The text of all messages, joined.' }),
    usage: ResponsesUsage.nullish(),
  })
  .meta({ id: 'ResponsesAnswer' });

export const ResponsesEvent = z
  .looseObject({
    type: z.string().meta({
      description: 'The same as the name of the event.',
      examples: ['response.created', 'response.output_text.delta', 'response.completed', 'error'],
    }),
    sequence_number: count().nullish(),
    response: ResponsesAnswer.partial().nullish(),
    delta: z.string().nullish(),
    item: OutputItem.nullish(),
    error: z.looseObject({ type: z.string(), message: z.string(), code: z.string() }).nullish(),
  })
  .meta({ id: 'ResponsesStreamEvent' });
