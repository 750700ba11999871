import { z } from 'zod';

/** The objects of the Open Responses specification as a strict client reads them: no member that is always there may lack. */
const outputText = z.looseObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.looseObject({ type: z.string() })),
  logprobs: z.array(z.unknown()),
});
const refusal = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });
const part = z.discriminatedUnion('type', [
  outputText,
  refusal,
  z.looseObject({ type: z.literal('reasoning_text'), text: z.string() }),
  z.looseObject({ type: z.literal('summary_text'), text: z.string() }),
]);

const status = z.enum(['in_progress', 'completed', 'incomplete']);

const item = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message'),
    id: z.string(),
    status,
    role: z.literal('assistant'),
    content: z.array(part),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status,
  }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(part),
    content: z.array(part).optional(),
  }),
]);

const count = z.int().min(0);

const tool = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('function'),
    name: z.string(),
    description: z.string().nullable(),
    parameters: z.record(z.string(), z.unknown()).nullable(),
    strict: z.boolean().nullable(),
  }),
]);

export const responseResource = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(item),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(tool),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  usage: z
    .looseObject({
      input_tokens: count,
      output_tokens: count,
      total_tokens: count,
      input_tokens_details: z.looseObject({ cached_tokens: count }),
      output_tokens_details: z.looseObject({ reasoning_tokens: count }),
    })
    .nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});
export type ResponseResource = z.infer<typeof responseResource>;

const event = <Type extends string, Members extends z.ZodRawShape>(type: Type, members: Members) =>
  z.looseObject({ type: z.literal(type), sequence_number: count, ...members });
const whole = <Type extends string>(type: Type) => event(type, { response: responseResource });
const place = { item_id: z.string(), output_index: count };
const partPlace = { ...place, content_index: count };

export const streamingEvent = z.discriminatedUnion('type', [
  whole('response.created'),
  whole('response.in_progress'),
  whole('response.completed'),
  whole('response.incomplete'),
  whole('response.failed'),
  event('response.output_item.added', { output_index: count, item }),
  event('response.output_item.done', { output_index: count, item }),
  event('response.content_part.added', { ...partPlace, part }),
  event('response.content_part.done', { ...partPlace, part }),
  event('response.output_text.delta', { ...partPlace, delta: z.string(), logprobs: z.array(z.unknown()) }),
  event('response.output_text.done', { ...partPlace, text: z.string(), logprobs: z.array(z.unknown()) }),
  event('response.function_call_arguments.delta', { ...place, delta: z.string() }),
  event('response.function_call_arguments.done', { ...place, arguments: z.string() }),
  event('response.reasoning_text.delta', { ...partPlace, delta: z.string() }),
  event('response.reasoning_text.done', { ...partPlace, text: z.string() }),
  event('response.reasoning_summary_part.added', { ...place, summary_index: count, part }),
  event('response.reasoning_summary_part.done', { ...place, summary_index: count, part }),
  event('response.reasoning_summary_text.delta', { ...place, summary_index: count, delta: z.string() }),
  event('response.reasoning_summary_text.done', { ...place, summary_index: count, text: z.string() }),
]);
export type StreamingEvent = z.infer<typeof streamingEvent>;
