import { isRecord } from '#core/is-record.ts';
import { argumentPieces } from './chat-answer.ts';
import { type ChatReply, shownCost, usageMember } from './chat-render.ts';
import { type ErrorBody, errorBody, errorTypeOf } from './error-body.ts';
import type { SimEvent, SimFormat } from './sim-format.ts';
import { messagesCounters, usageText } from './usage-text.ts';

/** `POST /messages`, as Anthropic and OpenRouter speak it. */
export const simMessages: SimFormat = {
  path: '/messages',
  toChat,
  json(reply) {
    const usage = usageMember(reply, countersOf(reply));
    return messageText(reply, JSON.stringify(contentOf(reply)), stopReason(reply), usage);
  },
  events,
  refusal: (status, message, type = errorTypeOf(status)) => anthropicError(status, message, type),
  errorBody: (status, error) =>
    error.style === 'openrouter'
      ? anthropicError(status, error.message, error.type ?? errorTypeOf(status))
      : errorBody(status, error),
};

function toChat(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { system, messages, tools, tool_choice: choice, thinking, output_config: output, ...rest } = body;
  const turns = Array.isArray(messages) ? messages : messages === undefined ? undefined : [messages];
  return {
    ...rest,
    messages: turns && [
      ...(system === undefined || system === null ? [] : [{ role: 'system', content: toParts(system) }]),
      ...turns.map((turn) => (isRecord(turn) ? { ...turn, content: toParts(turn.content) } : turn)),
    ],
    tools: Array.isArray(tools) ? tools.map(toFunction) : undefined,
    tool_choice: toChoice(choice),
    parallel_tool_calls: isRecord(choice) && choice.disable_parallel_tool_use === true ? false : undefined,
    reasoning: { effort: toEffort(thinking) },
    response_format: toFormat(output),
  };
}

function toParts(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((block) => {
    if (!isRecord(block)) return block;
    if (block.type === 'image') return { type: 'image_url' };
    if (block.type === 'document') return { type: 'document' };
    return typeof block.text === 'string' ? block : { type: 'text', text: JSON.stringify(block) };
  });
}

const toFunction = (tool: unknown): unknown =>
  isRecord(tool) && (tool.type ?? 'custom') === 'custom'
    ? { type: 'function', function: { name: tool.name, parameters: tool.input_schema } }
    : tool;

function toChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return undefined;
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } };
  return choice.type === 'any' ? 'required' : choice.type;
}

const toEffort = (thinking: unknown): string =>
  isRecord(thinking) && thinking.type !== 'disabled' ? 'medium' : 'none';

function toFormat(output: unknown): unknown {
  const format = isRecord(output) ? output.format : undefined;
  return isRecord(format) ? { type: 'json_schema', json_schema: { schema: format.schema } } : undefined;
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

const stopReason = ({ choice }: ChatReply): string =>
  STOP_REASONS[choice.finishReason] ?? choice.finishReason;

interface Block {
  start: Record<string, unknown>;
  whole: Record<string, unknown>;
  deltas: { delta: Record<string, unknown>; text: string }[];
}

function blocksOf({ choice, runs, call }: ChatReply): Block[] {
  const blocks: Block[] = [];
  for (let i = 0; i < runs.searches; i++)
    blocks.push(...searchBlocks(`srvtoolu_${call.digest.slice(0, 20)}${i}`));
  if (choice.reasoning !== '') {
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      whole: { type: 'thinking', thinking: choice.reasoning, signature: SIGNATURE },
      deltas: [
        { delta: { type: 'thinking_delta', thinking: choice.reasoning }, text: choice.reasoning },
        { delta: { type: 'signature_delta', signature: SIGNATURE }, text: '' },
      ],
    });
  }
  if (choice.pieces.length > 0 || choice.toolCalls.length === 0) {
    blocks.push({
      start: { type: 'text', text: '' },
      whole: {
        type: 'text',
        text: choice.pieces.join(''),
        ...(runs.searches === 0 ? {} : { citations: [CITATION] }),
      },
      deltas: [
        ...choice.pieces.map((text) => ({ delta: { type: 'text_delta', text }, text })),
        ...(runs.searches === 0
          ? []
          : [{ delta: { type: 'citations_delta', citation: CITATION }, text: '' }]),
      ],
    });
  }
  for (const { id, name, argumentsJson } of choice.toolCalls) {
    blocks.push({
      start: { type: 'tool_use', id, name, input: {} },
      whole: { type: 'tool_use', id, name, input: parseInput(argumentsJson) },
      deltas: ['', ...argumentPieces(argumentsJson)].map((text) => ({
        delta: { type: 'input_json_delta', partial_json: text },
        text,
      })),
    });
  }
  return blocks;
}

const CITATION = {
  type: 'web_search_result_location',
  url: 'https://example.com/found',
  title: 'Found',
  cited_text: 'found',
  encrypted_index: 'c2ltdWxhdG9y',
};

function searchBlocks(id: string): Block[] {
  const use = { type: 'server_tool_use', id, name: 'web_search' };
  const input = { query: 'found' };
  const result = {
    type: 'web_search_tool_result',
    tool_use_id: id,
    content: [
      {
        type: 'web_search_result',
        url: 'https://example.com/found',
        title: 'Found',
        encrypted_content: SIGNATURE,
        page_age: null,
      },
    ],
  };
  return [
    {
      start: { ...use, input: {} },
      whole: { ...use, input },
      deltas: [{ delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) }, text: '' }],
    },
    { start: result, whole: result, deltas: [] },
  ];
}

const SIGNATURE = 'c2ltdWxhdG9yIHNpZ25hdHVyZQ==';

function parseInput(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

const contentOf = (reply: ChatReply): unknown[] => blocksOf(reply).map(({ whole }) => whole);

function messageText(reply: ChatReply, content: string, stop: string | null, usage: string): string {
  const head = JSON.stringify({
    id: reply.generationId,
    type: 'message',
    role: 'assistant',
    model: reply.call.model.id,
    ...(reply.dialect === 'openai' ? {} : { provider: reply.call.endpoint.providerName }),
  });
  const end = `"stop_reason":${JSON.stringify(stop)},"stop_sequence":null`;
  return `${head.slice(0, -1)},"content":${content},${end}${usage}}`;
}

const countersOf = ({ use, runs }: ChatReply) => messagesCounters(use, runs);

function events(reply: ChatReply): SimEvent[] {
  const { rule, use } = reply;
  const started = `{"input_tokens":${use.promptTokens - use.cachedTokens},"cache_read_input_tokens":${use.cachedTokens},"output_tokens":1}`;
  const list: SimEvent[] = [
    event('message_start', `"message":${messageText(reply, '[]', null, `,"usage":${started}`)}`),
    event('ping', ''),
  ];
  const contents: SimEvent[] = [];
  blocksOf(reply).forEach(({ start, deltas }, index) => {
    contents.push(event('content_block_start', `"index":${index},"content_block":${JSON.stringify(start)}`));
    for (const { delta, text } of deltas) {
      const members = `"index":${index},"delta":${JSON.stringify(delta)}`;
      contents.push({ ...event('content_block_delta', members), textBytes: Buffer.byteLength(text) });
    }
    contents.push(event('content_block_stop', `"index":${index}`));
  });
  if (rule.error?.at === 'stream') {
    const type = rule.error.type ?? 'api_error';
    const error = JSON.stringify({ type, message: rule.error.message });
    return [...list, ...contents.slice(0, rule.error.afterChunks + 1), event('error', `"error":${error}`)];
  }
  const stop = `"delta":{"stop_reason":${JSON.stringify(stopReason(reply))},"stop_sequence":null}`;
  const record = usageText(countersOf(reply), shownCost(reply, reply.costAtto), rule);
  const usage = rule.usageAt === 'missing' ? '' : `,"usage":${record}`;
  const delta = event('message_delta', stop + usage);
  list.push(...contents, delta);
  if (rule.usageAt === 'twice') list.push(delta);
  if (rule.done) list.push(event('message_stop', ''));
  return list;
}

const event = (name: string, members: string): SimEvent => ({
  name,
  json: `{"type":"${name}"${members === '' ? '' : `,${members}`}}`,
  textBytes: 0,
});

/** Anthropic's names, by OpenRouter's. */
const TYPES: Readonly<Record<string, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  payment_required: 'billing_error',
  permission_denied: 'permission_error',
  not_found: 'not_found_error',
  payload_too_large: 'request_too_large',
  rate_limit_exceeded: 'rate_limit_error',
  timeout: 'timeout_error',
  provider_overloaded: 'overloaded_error',
};

function anthropicError(status: number, message: string, errorType: string): ErrorBody {
  const type = TYPES[errorType] ?? (status >= 500 ? 'api_error' : errorType);
  const error = { type, message, error_type: errorType };
  return {
    contentType: 'application/json',
    text: JSON.stringify({ type: 'error', error, request_id: 'req_011sim' }),
  };
}
