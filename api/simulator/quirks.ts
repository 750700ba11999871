import { isRecord } from '#core/is-record.ts';
import type { SimToolCall } from './chat-answer.ts';
import type { ChatReply } from './chat-render.ts';
import type { ErrorBody } from './error-body.ts';
import { simChat } from './sim-chat.ts';
import type { SimEvent, SimFormat } from './sim-format.ts';

/*
 * Servers of the chat format, each with its own way of numbering calls, of usage, reasoning and errors, as its documentation, its source
 * or recorded answers have it. A gateway is tried against them at `/quirks/<name>/v1`.
 */

interface Quirk {
  /** The place of reasoning. `parts`: in a list that is the content. `none`: it is not shown. */
  reasoning: 'reasoning' | 'reasoning_content' | 'parts' | 'none';
  /**
   * The calls of a stream. `pieces`: as OpenAI sends them. `whole`: each in one chunk. `one_index`: so, and all under index 0.
   * `no_index`: in pieces without an index. `empty_names`: in pieces that repeat id and name as empty texts. `object`: in pieces, in
   * the place of a list, as an object, without an id.
   */
  calls: 'pieces' | 'whole' | 'one_index' | 'no_index' | 'empty_names' | 'object';
  /** Why an answer that calls tools ends. */
  callsEnd: 'tool_calls' | 'stop';
  /** The place of the usage in a stream. `asked`: in a chunk of its own, where it was asked for. */
  usage: 'asked' | 'last_chunk' | 'in_choice' | 'x_groq' | 'every_chunk';
  /** Reasoning tokens are counted beside those of the completion. */
  countsBeside: boolean;
  /** Members beside those that all have, of every chunk and every whole answer. */
  frame: Readonly<Record<string, unknown>>;
  /** Chunks before the first. */
  prelude: readonly Readonly<Record<string, unknown>>[];
  error(status: number, message: string): unknown;
}

const openaiError = (status: number, message: string): unknown => ({
  error: {
    message,
    type: status === 429 ? 'rate_limit_error' : 'invalid_request_error',
    param: null,
    code: null,
  },
});
const flatError = (status: number, message: string): unknown => ({
  object: 'error',
  message,
  type: 'BadRequestError',
  param: null,
  code: status,
});

const plain: Quirk = {
  reasoning: 'reasoning_content',
  calls: 'pieces',
  callsEnd: 'tool_calls',
  usage: 'asked',
  countsBeside: false,
  frame: {},
  prelude: [],
  error: openaiError,
};

export const quirks = {
  ollama: {
    ...plain,
    reasoning: 'reasoning',
    calls: 'one_index',
    callsEnd: 'stop',
    frame: { system_fingerprint: 'fp_ollama' },
  },
  vllm: { ...plain, frame: { prompt_logprobs: null, kv_transfer_params: null }, error: flatError },
  sglang: { ...plain, error: flatError },
  'llama.cpp': {
    ...plain,
    frame: { timings: { predicted_per_second: 12.5 } },
    error: (code, message) => ({ error: { code, message, type: 'invalid_request_error' } }),
  },
  tgi: {
    ...plain,
    reasoning: 'none',
    calls: 'object',
    callsEnd: 'stop',
    error: (_status, error) => ({ error, error_type: 'validation' }),
  },
  deepseek: { ...plain, usage: 'last_chunk' },
  moonshot: {
    ...plain,
    usage: 'in_choice',
    error: (_status, message) => ({ error: { message, type: 'invalid_request_error' } }),
  },
  glm: {
    ...plain,
    calls: 'whole',
    usage: 'last_chunk',
    frame: { request_id: '2026' },
    error: (_status, message) => ({ error: { code: '1214', message } }),
  },
  qwen: {
    ...plain,
    calls: 'empty_names',
    error: (_status, message) => ({
      error: { code: 'invalid_parameter_error', param: null, message, type: 'invalid_request_error' },
      request_id: 'r',
    }),
  },
  mistral: { ...plain, reasoning: 'parts', calls: 'whole', usage: 'last_chunk', error: flatError },
  xai: {
    ...plain,
    calls: 'whole',
    usage: 'every_chunk',
    countsBeside: true,
    error: (_status, error) => ({ code: 'Client specified an invalid argument', error }),
  },
  groq: { ...plain, reasoning: 'reasoning', usage: 'x_groq', frame: { service_tier: 'on_demand' } },
  gemini: {
    ...plain,
    reasoning: 'none',
    calls: 'one_index',
    usage: 'every_chunk',
    countsBeside: true,
    error: (code, message) => [{ error: { code, message, status: 'INVALID_ARGUMENT' } }],
  },
  azure: {
    ...plain,
    reasoning: 'none',
    prelude: [{ choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }],
    error: (status, message) => ({ error: { code: String(status), message } }),
  },
  bedrock: { ...plain, reasoning: 'none', calls: 'no_index', error: (_status, message) => ({ message }) },
  litellm: {
    ...plain,
    usage: 'last_chunk',
    frame: { provider_specific_fields: null },
    error: (status, message) => ({
      error: {
        message: `litellm.BadRequestError: ${message}`,
        type: null,
        param: null,
        code: String(status),
      },
    }),
  },
} as const satisfies Record<string, Quirk>;

export type QuirkName = keyof typeof quirks;
export const QUIRK_NAMES = Object.keys(quirks) as QuirkName[];

/** The chat format as a server of this name speaks it; `undefined`: there is none of that name. */
export function quirkedChat(name: string): SimFormat | undefined {
  const quirk: Quirk | undefined = Object.hasOwn(quirks, name) ? quirks[name as QuirkName] : undefined;
  if (quirk === undefined) return undefined;
  const errorBody = (status: number, message: string): ErrorBody => ({
    contentType: 'application/json',
    text: JSON.stringify(quirk.error(status, message)),
  });
  return {
    ...simChat,
    json: (reply) => wholeAnswer(reply, quirk),
    events: (reply) => streamEvents(reply, quirk),
    refusal: errorBody,
    errorBody: (status, { message }) => errorBody(status, message),
  };
}

type Members = Record<string, unknown>;

function wholeAnswer(reply: ChatReply, quirk: Quirk): string {
  const answer: Members = JSON.parse(simChat.json(reply));
  const choices = recordsOf(answer.choices).map(({ message, ...choice }) => ({
    ...choice,
    ...(reply.choice.toolCalls.length > 0 ? { finish_reason: quirk.callsEnd } : {}),
    message: isRecord(message) ? said(message, quirk) : message,
  }));
  return JSON.stringify({ ...answer, ...quirk.frame, choices, usage: counted(answer.usage, quirk) });
}

function streamEvents(reply: ChatReply, quirk: Quirk): SimEvent[] {
  const asked = { ...reply, call: { ...reply.call, includeUsage: true } };
  const [chunks, ends] = [[] as Chunk[], [] as SimEvent[]];
  let usage: unknown;
  let hasCalls = false;
  for (const event of simChat.events(asked)) {
    if (event.json === '[DONE]') {
      ends.push(event);
      continue;
    }
    const { usage: counters, ...chunk }: Members = JSON.parse(event.json);
    const [choice] = recordsOf(chunk.choices);
    if (choice === undefined) {
      usage = counted(counters, quirk);
      continue;
    }
    const delta = isRecord(choice.delta) ? choice.delta : {};
    if (delta.tool_calls !== undefined && quirk.calls !== 'pieces') {
      if (!hasCalls) {
        const callPieces = reply.choice.toolCalls.flatMap((call, index) =>
          callChunks(call, index, quirk.calls),
        );
        chunks.push(...callPieces.map((each) => ofDelta(chunk, choice, each)));
      }
      hasCalls = true;
    } else
      chunks.push({
        members: withDelta(chunk, endOf(choice, reply, quirk), said(delta, quirk)),
        textBytes: event.textBytes,
      });
  }
  const prelude = quirk.prelude.map((members) => ({
    members: { ...chunks[0]?.members, ...members },
    textBytes: 0,
  }));
  return [...prelude, ...withUsage(chunks, usage, reply, quirk)]
    .map(
      ({ members, textBytes }): SimEvent => ({
        name: null,
        json: JSON.stringify({ ...members, ...quirk.frame }),
        textBytes,
      }),
    )
    .concat(ends);
}

interface Chunk {
  members: Members;
  textBytes: number;
}

const recordsOf = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const withDelta = (chunk: Members, choice: Members, delta: Members): Members => ({
  ...chunk,
  choices: [{ ...choice, delta }],
});

const ofDelta = (chunk: Members, choice: Members, { delta, textBytes }: CallChunk): Chunk => ({
  members: withDelta(chunk, choice, delta),
  textBytes,
});

const endOf = (choice: Members, reply: ChatReply, { callsEnd }: Quirk): Members =>
  choice.finish_reason === 'tool_calls' && reply.choice.toolCalls.length > 0
    ? { ...choice, finish_reason: callsEnd }
    : choice;

/** A delta or a whole message, with its reasoning where this server has it. */
function said({ reasoning, ...rest }: Members, quirk: Quirk): Members {
  if (reasoning === undefined || quirk.reasoning === 'none') return rest;
  if (quirk.reasoning !== 'parts') return { ...rest, [quirk.reasoning]: reasoning };
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: reasoning }] };
  const text =
    typeof rest.content === 'string' && rest.content !== '' ? [{ type: 'text', text: rest.content }] : [];
  return { ...rest, content: [thinking, ...text] };
}

interface CallChunk {
  delta: Members;
  textBytes: number;
}

function callChunks(
  { id, name, argumentsJson }: SimToolCall,
  index: number,
  way: Quirk['calls'],
): CallChunk[] {
  const textBytes = Buffer.byteLength(argumentsJson);
  const whole = { id, type: 'function', function: { name, arguments: argumentsJson } };
  const begun = { id, type: 'function', function: { name, arguments: '' } };
  const half = Math.ceil(argumentsJson.length / 2);
  const pieces = [argumentsJson.slice(0, half), argumentsJson.slice(half)];
  const piecesOf = (one: (json: string) => unknown): CallChunk[] =>
    pieces.map((json) => ({ delta: { tool_calls: one(json) }, textBytes: Buffer.byteLength(json) }));
  switch (way) {
    case 'whole':
      return [{ delta: { tool_calls: [{ index, ...whole }] }, textBytes }];
    case 'one_index':
      return [{ delta: { tool_calls: [{ index: 0, ...whole }] }, textBytes }];
    case 'no_index':
      return [
        { delta: { tool_calls: [begun] }, textBytes: 0 },
        ...piecesOf((json) => [{ function: { arguments: json } }]),
      ];
    case 'empty_names':
      return [
        { delta: { tool_calls: [{ index, ...begun }] }, textBytes: 0 },
        ...piecesOf((json) => [{ index, id: '', type: '', function: { name: '', arguments: json } }]),
      ];
    case 'object':
      return [
        {
          delta: { tool_calls: { index, id: '', type: 'function', function: { name, arguments: '' } } },
          textBytes: 0,
        },
        ...piecesOf((json) => ({
          index,
          id: '',
          type: 'function',
          function: { name: null, arguments: json },
        })),
      ];
    case 'pieces':
      return [];
  }
}

/** Reasoning beside the completion, where this server counts it so. */
function counted(usage: unknown, { countsBeside }: Quirk): unknown {
  if (!countsBeside || !isRecord(usage) || !isRecord(usage.completion_tokens_details)) return usage;
  const { completion_tokens: completion, completion_tokens_details: details } = usage;
  return { ...usage, completion_tokens: Number(completion) - Number(details.reasoning_tokens ?? 0) };
}

function withUsage(chunks: readonly Chunk[], usage: unknown, reply: ChatReply, quirk: Quirk): Chunk[] {
  const [last] = chunks.slice(-1);
  if (last === undefined || usage === undefined) return [...chunks];
  const before = chunks.slice(0, -1);
  const withMembers = (members: Members): Chunk[] => [
    ...before,
    { ...last, members: { ...last.members, ...members } },
  ];
  switch (quirk.usage) {
    case 'asked':
      return reply.call.includeUsage
        ? [...chunks, { members: { ...last.members, choices: [], usage }, textBytes: 0 }]
        : [...chunks];
    case 'last_chunk':
      return withMembers({ usage });
    case 'x_groq':
      return withMembers({ x_groq: { id: 'req', usage } });
    case 'in_choice':
      return withMembers({
        choices: recordsOf(last.members.choices).map((choice) => ({ ...choice, usage })),
      });
    case 'every_chunk':
      // All that was written by then; the whole of it last.
      return [
        ...before.map((chunk, index) => ({
          ...chunk,
          members: { ...chunk.members, usage: { ...Object(usage), completion_tokens: Math.min(index, 1) } },
        })),
        { ...last, members: { ...last.members, usage } },
      ];
  }
}
