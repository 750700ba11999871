import { z } from 'zod';
import { usdNumber } from './money.ts';

/*
 * Answers of text models in the three formats. Only the document is made from these: answers pass through as the provider
 * wrote them, with our `usage.cost`, and are not parsed again.
 */

const count = () => z.int().nonnegative();
const optionalText = () => z.string().nullish();

const ReasoningDetail = z
  .looseObject({
    type: z.string().meta({ examples: ['reasoning.text', 'reasoning.encrypted'] }),
    text: optionalText(),
    data: optionalText().meta({ description: 'Encrypted reasoning.' }),
    signature: optionalText(),
    index: count().nullish(),
  })
  .meta({ id: 'ReasoningDetail', description: 'Send it back as it is in the next turn.' });

/** The reasoning that a message or a piece of one has beside its text. */
const shownReasoning = {
  reasoning: optionalText(),
  reasoning_details: z.array(ReasoningDetail).nullish(),
};

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
    refusal: optionalText(),
    ...shownReasoning,
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

const PromptTokensDetails = z
  .looseObject({ cached_tokens: count().nullish() })
  .meta({ id: 'PromptTokensDetails', description: 'Tokens among those read.' });

const CompletionTokensDetails = z
  .looseObject({ reasoning_tokens: count().nullish() })
  .meta({ id: 'CompletionTokensDetails', description: 'Tokens among those written.' });

const CompletionUsage = z
  .looseObject({
    prompt_tokens: count().meta({ description: 'Tokens read.' }),
    completion_tokens: count().meta({ description: 'Tokens written, reasoning included.' }),
    total_tokens: count(),
    cost: usdNumber(),
    prompt_tokens_details: PromptTokensDetails.nullish(),
    completion_tokens_details: CompletionTokensDetails.nullish(),
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

const ToolCallDelta = z
  .looseObject({
    index: count(),
    id: optionalText().meta({ description: 'In the first piece of a call.' }),
    type: optionalText(),
    function: z
      .looseObject({
        name: optionalText(),
        arguments: optionalText().meta({ description: 'The next characters of the JSON.' }),
      })
      .meta({ id: 'CalledFunctionDelta' })
      .nullish(),
  })
  .meta({ id: 'ToolCallDelta' });

const CompletionDelta = z
  .looseObject({
    role: z.string().nullish().meta({ description: 'In the first chunk.' }),
    content: z.string().nullish(),
    refusal: optionalText(),
    ...shownReasoning,
    tool_calls: z
      .array(ToolCallDelta)
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

const Annotation = z
  .looseObject({
    type: z.string().meta({ examples: ['url_citation'] }),
    url: optionalText(),
    title: optionalText(),
    start_index: count().nullish(),
    end_index: count().nullish(),
  })
  .meta({ id: 'Annotation', description: 'What a stretch of the text points at.' });

const OutputPart = z
  .looseObject({
    type: z.string().meta({ examples: ['output_text', 'refusal'] }),
    text: z.string().nullish().meta({ description: 'Of an `output_text` part.' }),
    refusal: optionalText().meta({ description: 'Of a `refusal` part.' }),
    annotations: z.array(Annotation).nullish().meta({ description: 'Of an `output_text` part.' }),
  })
  .meta({ id: 'OutputPart' });

const OutputItem = z
  .looseObject({
    type: z.string().meta({ examples: ['message', 'reasoning', 'function_call'] }),
    id: z.string().nullish(),
    status: optionalText(),
    role: z.string().nullish().meta({ description: 'Of a message.' }),
    content: z.array(OutputPart).nullish().meta({ description: 'Of a message.' }),
    call_id: z.string().nullish().meta({ description: 'Of a tool call.' }),
    name: z.string().nullish().meta({ description: 'Of a tool call.' }),
    arguments: z.string().nullish().meta({ description: 'Of a function call: JSON, as text.' }),
    encrypted_content: optionalText().meta({ description: 'Of reasoning: send it back in the next turn.' }),
  })
  .meta({ id: 'OutputItem' });

const ResponsesUsage = z
  .looseObject({
    input_tokens: count().meta({ description: 'Tokens read.' }),
    output_tokens: count().meta({ description: 'Tokens written, reasoning included.' }),
    total_tokens: count(),
    cost: usdNumber().nullish(),
    input_tokens_details: PromptTokensDetails.nullish(),
    output_tokens_details: CompletionTokensDetails.nullish(),
  })
  .meta({ id: 'ResponsesUsage' });

const IncompleteDetails = z
  .looseObject({ reason: optionalText().meta({ examples: ['max_output_tokens', 'content_filter'] }) })
  .meta({ id: 'IncompleteDetails', description: 'Why the answer ends early.' });

export const ResponsesAnswer = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: count().nullish(),
    completed_at: count().nullish(),
    status: z.string().meta({ examples: ['completed', 'incomplete', 'in_progress'] }),
    model: z.string(),
    incomplete_details: IncompleteDetails.nullish(),
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
    response: ResponsesAnswer.partial().meta({ id: 'ResponsesStreamEventResponse' }).nullish(),
    output_index: count().nullish(),
    content_index: count().nullish(),
    item_id: optionalText(),
    delta: z.string().nullish(),
    text: optionalText(),
    arguments: optionalText(),
    item: OutputItem.nullish(),
    part: OutputPart.nullish(),
    error: StreamError.nullish(),
  })
  .meta({ id: 'ResponsesStreamEvent' });

const AnswerBlock = z
  .looseObject({
    type: z.string().meta({ examples: ['text', 'tool_use', 'thinking'] }),
    text: z.string().nullish().meta({ description: 'Of a `text` block.' }),
    thinking: optionalText().meta({ description: 'Of a `thinking` block.' }),
    signature: optionalText().meta({ description: 'Of a `thinking` block: send it back in the next turn.' }),
    id: z.string().nullish().meta({ description: 'Of a `tool_use` block.' }),
    name: z.string().nullish().meta({ description: 'Of a `tool_use` block.' }),
    input: z
      .record(z.string(), z.unknown())
      .meta({ id: 'ToolArguments', description: 'By the schema of the tool.' })
      .nullish()
      .meta({ description: 'Of a `tool_use` block.' }),
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
    message: MessagesAnswer.partial().meta({ id: 'MessagesStreamEventMessage' }).nullish(),
    content_block: AnswerBlock.nullish(),
    delta: z
      .looseObject({
        type: z.string().nullish(),
        text: z.string().nullish(),
        partial_json: optionalText(),
        thinking: optionalText(),
        signature: optionalText(),
        stop_reason: optionalText(),
        stop_sequence: optionalText(),
      })
      .meta({ id: 'MessagesStreamEventDelta' })
      .nullish(),
    usage: MessagesUsage.nullish().meta({
      description: 'Of `message_delta`: totals so far; the last has the cost.',
    }),
    error: StreamError.nullish(),
  })
  .meta({ id: 'MessagesStreamEvent' });
