import { hash } from 'node:crypto';
import { z } from 'zod';
import { isRecord } from '#core/is-record.ts';
import { type AttoUsd, parseAttoUsd } from '#core/money.ts';
import {
  type AgentTask,
  type AgentTurn,
  asksForSearch,
  callOf,
  nextTurn,
  readAgentTask,
} from './agent-model.ts';
import { errorTypeOf } from './error-body.ts';
import { findSimModel, type SimEndpoint, type SimModel, smallModelId } from './models.ts';
import { readToolOffer, type ToolOffer } from './server-tools.ts';
import { ANSWER_OPENING_TOKENS, IMAGE_TOKENS, MESSAGE_TOKENS, textTokens } from './tokens.ts';

export interface ChatCall {
  /** As it was sent, with its suffix. */
  modelId: string;
  /** The members of the body as it came: answers of some formats repeat them. */
  asked: Readonly<Record<string, unknown>>;
  model: SimModel;
  endpoint: SimEndpoint;
  stream: boolean;
  includeUsage: boolean;
  lastUserText: string;
  promptTokens: number;
  images: number;
  files: number;
  outputTokensMax: number;
  reasoningTokens: number;
  choices: number;
  stop: readonly string[];
  /** The functions that the answer has to call. */
  tools: readonly { name: string; parameters: unknown }[];
  serverTools: ToolOffer | null;
  /** Every byte of the body a token, and every image the rest of the context: the most that a provider may count. */
  dearestPromptTokens: number;
  /** Tokens of a rejected prediction, billed besides. */
  predictionTokens: number;
  /** The next step of a model of agents; `null`: the model is none. */
  turn: AgentTurn | null;
  /** The answer has to be JSON that fits; `undefined`: plain text. */
  jsonSchema: unknown;
  /** Of the seed, the model and the prompt: the only source of variety. The same streamed or not. */
  digest: string;
}

type ChatReading =
  | { ok: true; call: ChatCall }
  | { ok: false; status: number; type: string; message: string };

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part), z.null()]).optional(),
  tool_calls: z.array(z.unknown()).optional(),
});
const tool = z.looseObject({
  function: z.looseObject({ name: z.string(), parameters: z.unknown().optional() }).optional(),
});
const cap = z.int().min(1).nullish();
const priceCap = z.union([z.number(), z.string()]).optional();

const chatBody = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: cap,
  max_completion_tokens: cap,
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([z.string(), z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .looseObject({ type: z.string(), json_schema: z.looseObject({ schema: z.unknown() }).optional() })
    .nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  reasoning_effort: z.string().nullish(),
  prediction: z.unknown().optional(),
  provider: z
    .looseObject({
      max_price: z.looseObject({ prompt: priceCap, completion: priceCap }).optional(),
    })
    .nullish(),
});
type ChatBody = z.output<typeof chatBody>;

/**
 * The wishes of the body, or the reason why OpenRouter would refuse it.
 *
 * @param sent The body as it came.
 * @param request The same in the words of a chat.
 */
export function readChat(sent: unknown, request: unknown, seed: string, promptBytes: number): ChatReading {
  const parsed = chatBody.safeParse(request);
  if (!parsed.success) return refused(400, parsed.error.issues[0]?.message ?? 'No JSON object');
  const body = parsed.data;
  const { id, suffix } = splitModelId(body.model);
  const listed = findSimModel(id);
  if (listed === undefined) return refused(400, `${body.model} is not a valid model ID`);
  const model = listed.tokenizer === 'Router' ? findSimModel(smallModelId) : listed;
  if (model === undefined) return refused(404, 'No endpoints found');
  if (id.endsWith(':batch')) return refused(400, `${id} is served in batches only`);

  const count = countPrompt(body);
  const digest = hash('sha256', `${seed}\n${body.model}\n${count.promptTokens}\n${count.lastUserText}`);
  const task = model.acts ? readAgentTask(sent) : null;
  const endpoint = pickEndpoint(model, suffix, body, drawOf(digest));
  if (endpoint === null) return refused(404, 'No endpoints found that meet max_price');
  if (count.promptTokens > model.contextLength) {
    return refused(400, `This model reads at most ${model.contextLength} tokens`, 'context_length_exceeded');
  }
  return {
    ok: true,
    call: {
      ...readAnswerWishes(body, model),
      ...count,
      modelId: body.model,
      asked: isRecord(sent) ? sent : {},
      model,
      endpoint,
      digest,
      turn: task === null ? null : turnFor(task, body),
      serverTools:
        task === null || asksForSearch(task)
          ? readToolOffer(body, body.model, listPrice(endpoint.pricing.web_search ?? '0'))
          : null,
      dearestPromptTokens:
        count.images + count.files > 0 ? model.contextLength : Math.min(promptBytes, model.contextLength),
      predictionTokens: body.prediction == null ? 0 : Buffer.byteLength(JSON.stringify(body.prediction)),
    },
  };
}

/** A number below 2^32 that the request and the seed alone decide. */
export const drawOf = (digest: string): number => Number.parseInt(digest.slice(0, 8), 16);

type AnswerWishes = Pick<
  ChatCall,
  | 'stream'
  | 'includeUsage'
  | 'outputTokensMax'
  | 'reasoningTokens'
  | 'choices'
  | 'stop'
  | 'tools'
  | 'jsonSchema'
>;

function readAnswerWishes(body: ChatBody, model: SimModel): AnswerWishes {
  return {
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
    outputTokensMax:
      body.max_completion_tokens ?? body.max_tokens ?? model.maxOutputTokens ?? model.contextLength,
    reasoningTokens: model.reasons ? reasoningTokens(body.reasoning?.effort ?? body.reasoning_effort) : 0,
    choices: body.n ?? 1,
    stop: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? []),
    tools: forcedTools(body),
    jsonSchema: wantedSchema(body),
  };
}

const STEERING_SUFFIX = /:(online|nitro|floor|exacto)$/;

function splitModelId(modelId: string): { id: string; suffix: string | null } {
  const match = STEERING_SUFFIX.exec(modelId);
  return match === null
    ? { id: modelId, suffix: null }
    : { id: modelId.slice(0, match.index), suffix: match[1] ?? null };
}

/** `:floor` takes the cheapest, `:nitro` the dearest; else the digest balances the load. */
function pickEndpoint(
  model: SimModel,
  suffix: string | null,
  body: ChatBody,
  draw: number,
): SimEndpoint | null {
  const maxPrice = body.provider?.max_price;
  const eligible = model.endpoints.filter(
    ({ pricing }) => fits(pricing.prompt, maxPrice?.prompt) && fits(pricing.completion, maxPrice?.completion),
  );
  const index = suffix === 'floor' ? 0 : suffix === 'nitro' ? eligible.length - 1 : draw % eligible.length;
  return eligible[index] ?? null;
}

const TOKENS_PER_PRICE_CAP = 1_000_000n;

/** `max_price` is in dollars per million tokens. */
function fits(price: string, cap: number | string | undefined): boolean {
  if (cap === undefined) return true;
  const capAtto = parseAttoUsd(String(cap));
  return capAtto !== null && listPrice(price) * TOKENS_PER_PRICE_CAP <= capAtto;
}

const listPrice = (price: string): AttoUsd => parseAttoUsd(price) ?? 0n;

type PromptCount = Pick<ChatCall, 'promptTokens' | 'images' | 'files' | 'lastUserText'>;

function countPrompt(body: ChatBody): PromptCount {
  let promptTokens = ANSWER_OPENING_TOKENS;
  let images = 0;
  let files = 0;
  let lastUserText = '';
  for (const { role, content, tool_calls: toolCalls } of body.messages) {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
    const text = parts.map((each) => each.text ?? '').join('');
    const imageParts = parts.filter((each) => each.type === 'image_url').length;
    promptTokens += MESSAGE_TOKENS + textTokens(text) + imageParts * IMAGE_TOKENS;
    if (toolCalls !== undefined) promptTokens += textTokens(JSON.stringify(toolCalls));
    images += imageParts;
    files += parts.filter(({ type }) => FILE_PARTS.has(type)).length;
    if (role === 'user') lastUserText = text;
  }
  if (body.tools != null) promptTokens += textTokens(JSON.stringify(body.tools));
  return { promptTokens, images, files, lastUserText };
}

/** By the names of all formats. */
const FILE_PARTS = new Set(['file', 'input_file', 'document']);

const EFFORT_TOKENS: Readonly<Record<string, number>> = { none: 0, low: 16, high: 128 };
const reasoningTokens = (effort: string | null | undefined): number => EFFORT_TOKENS[effort ?? ''] ?? 48;

/** As many as models like to call at once. */
const PARALLEL_CALLS = 2;

/** A tool that is demanded is called; of those that are offered, what the task speaks of. */
function turnFor(task: AgentTask, body: ChatBody): AgentTurn {
  const [demanded] = forcedTools(body);
  if (demanded !== undefined && task.results.length === 0)
    return { text: '', calls: [callOf(demanded, task.text)] };
  const turn = nextTurn(task, body.tool_choice === 'none' ? [] : functionsOf(body));
  return body.parallel_tool_calls === false ? { ...turn, calls: turn.calls.slice(0, 1) } : turn;
}

const functionsOf = (body: ChatBody): ChatCall['tools'] =>
  (body.tools ?? []).flatMap((each) =>
    each.function === undefined ? [] : [{ name: each.function.name, parameters: each.function.parameters }],
  );

/** One that is named is called alone; where any will do, the first ones are called side by side. */
function forcedTools(body: ChatBody): ChatCall['tools'] {
  const functions = functionsOf(body);
  const choice = body.tool_choice;
  if (choice == null) return [];
  if (typeof choice !== 'string') return functions.filter(({ name }) => name === choice.function?.name);
  if (choice !== 'required') return [];
  return functions.slice(0, body.parallel_tool_calls === false ? 1 : PARALLEL_CALLS);
}

const ANY_OBJECT_SCHEMA = { type: 'object', properties: { answer: { type: 'string' } } };

function wantedSchema(body: ChatBody): unknown {
  if (body.response_format?.type === 'json_object') return ANY_OBJECT_SCHEMA;
  return body.response_format?.type === 'json_schema' ? body.response_format.json_schema?.schema : undefined;
}

const refused = (status: number, message: string, type = errorTypeOf(status)): ChatReading => ({
  ok: false,
  status,
  type,
  message,
});
