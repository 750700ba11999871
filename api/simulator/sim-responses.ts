import { isRecord } from '#core/is-record.ts';
import { argumentPieces } from './chat-answer.ts';
import { type ChatReply, usageMember } from './chat-render.ts';
import { errorBody, refusal } from './error-body.ts';
import type { Rule } from './script-rule.ts';
import type { SimEvent, SimFormat } from './sim-format.ts';
import { responsesCounters } from './usage-text.ts';

/** `POST /responses`, stateless. */
export const simResponses: SimFormat = {
  path: '/responses',
  toChat,
  json(reply) {
    if (reply.rule.error?.at === 'choice') return failedText(reply, reply.rule.error, endUsage(reply));
    return responseText(reply, endStatus(reply), itemsOf(reply), endUsage(reply));
  },
  events,
  refusal,
  errorBody,
};

function toChat(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { input, instructions, max_output_tokens: cap, tools, tool_choice: choice, text, ...rest } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return {
    ...rest,
    max_tokens: cap,
    messages: Array.isArray(items)
      ? [
          ...(typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : []),
          ...items.map(toMessage),
        ]
      : items,
    tools: Array.isArray(tools) ? tools.map(toTool) : undefined,
    tool_choice: isRecord(choice) ? { function: { name: choice.name } } : choice,
    response_format: toFormat(text),
  };
}

const toTool = (tool: unknown): unknown =>
  isRecord(tool) && tool.type === 'function' ? { type: 'function', function: tool } : tool;

function toMessage(item: unknown): unknown {
  if (!isRecord(item)) return item;
  if (typeof item.role !== 'string') return { role: 'tool', content: JSON.stringify(item) };
  const parts = Array.isArray(item.content)
    ? item.content.map((part) =>
        isRecord(part) && part.type === 'input_image' ? { type: 'image_url' } : part,
      )
    : item.content;
  return { role: item.role, content: parts };
}

function toFormat(text: unknown): unknown {
  const format = isRecord(text) ? text.format : undefined;
  if (!isRecord(format)) return undefined;
  return { type: format.type, json_schema: { schema: format.schema } };
}

interface Item {
  start: Record<string, unknown>;
  whole: Record<string, unknown>;
  /** Between the item's two own events. */
  events: (index: number) => SimEvent[];
}

function itemsOf(reply: ChatReply): Item[] {
  const { choice, generationId } = reply;
  const items: Item[] = [];
  const tail = generationId.slice(-20);
  for (let i = 0; i < reply.runs.searches; i++) items.push(searchItem(`ws_${tail}${i}`));
  if (choice.reasoning !== '') items.push(reasoningItem(`rs_${tail}`, choice.reasoning));
  if (choice.pieces.length > 0 || choice.toolCalls.length === 0)
    items.push(messageItem(`msg_${tail}`, choice.pieces));
  choice.toolCalls.forEach(({ id, name, argumentsJson }, index) => {
    items.push(callItem(`fc_${tail}_${index}`, id, name, argumentsJson));
  });
  return items;
}

function searchItem(id: string): Item {
  const common = { id, type: 'web_search_call' };
  const at = (index: number) => ({ item_id: id, output_index: index });
  return {
    start: { ...common, status: 'in_progress', action: { type: 'search', query: 'found' } },
    whole: { ...common, status: 'completed', action: { type: 'search', query: 'found' } },
    events: (index) => [
      event('response.web_search_call.in_progress', at(index)),
      event('response.web_search_call.searching', at(index)),
      event('response.web_search_call.completed', at(index)),
    ],
  };
}

/** As routers and servers of open models show it: in full, not as a summary. */
function reasoningItem(id: string, text: string): Item {
  const part = { type: 'reasoning_text', text };
  const common = { id, type: 'reasoning', summary: [] };
  const at = (index: number) => ({ item_id: id, output_index: index, content_index: 0 });
  return {
    start: { ...common, status: 'in_progress', content: [] },
    whole: { ...common, status: 'completed', content: [part] },
    events: (index) => [
      event('response.content_part.added', { ...at(index), part: { ...part, text: '' } }),
      event('response.reasoning_text.delta', { ...at(index), delta: text }, text),
      event('response.reasoning_text.done', { ...at(index), text }),
      event('response.content_part.done', { ...at(index), part }),
    ],
  };
}

function messageItem(id: string, pieces: readonly string[]): Item {
  const text = pieces.join('');
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const common = { id, type: 'message', role: 'assistant' };
  const at = (index: number) => ({ item_id: id, output_index: index, content_index: 0 });
  return {
    start: { ...common, status: 'in_progress', content: [] },
    whole: { ...common, status: 'completed', content: [part] },
    events: (index) => [
      event('response.content_part.added', { ...at(index), part: { ...part, text: '' } }),
      ...pieces.map((piece) =>
        event('response.output_text.delta', { ...at(index), delta: piece, logprobs: [] }, piece),
      ),
      event('response.output_text.done', { ...at(index), text, logprobs: [] }),
      event('response.content_part.done', { ...at(index), part }),
    ],
  };
}

function callItem(id: string, callId: string, name: string, argumentsJson: string): Item {
  const common = { id, type: 'function_call', call_id: callId, name };
  const at = (index: number) => ({ item_id: id, output_index: index });
  return {
    start: { ...common, arguments: '', status: 'in_progress' },
    whole: { ...common, arguments: argumentsJson, status: 'completed' },
    events: (index) => [
      ...argumentPieces(argumentsJson).map((piece) =>
        event('response.function_call_arguments.delta', { ...at(index), delta: piece }, piece),
      ),
      event('response.function_call_arguments.done', { ...at(index), name, arguments: argumentsJson }),
    ],
  };
}

const endStatus = ({ choice }: ChatReply): string =>
  choice.finishReason === 'length' || choice.finishReason === 'content_filter' ? 'incomplete' : 'completed';

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

function responseText(reply: ChatReply, status: string, items: readonly Item[], usage: string): string {
  const reason = status === 'incomplete' ? INCOMPLETE[reply.choice.finishReason] : undefined;
  const head = JSON.stringify({
    id: reply.generationId,
    object: 'response',
    created_at: reply.createdAtSeconds,
    completed_at: status === 'in_progress' ? null : reply.createdAtSeconds,
    status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: reply.call.model.id,
    output: items.map(({ whole }) => whole),
    ...repeated(reply.call.asked),
  });
  return `${head.slice(0, -1)}${usage}}`;
}

/** Members that a response repeats of its request, with their defaults where the request says nothing. */
function repeated(asked: ChatReply['call']['asked']): Record<string, unknown> {
  const said = Object.entries(asked).filter(([name, value]) => name in UNSAID && value !== null);
  const { text, reasoning, tools, ...rest } = { ...UNSAID, ...Object.fromEntries(said) };
  return {
    ...rest,
    tools: Array.isArray(tools) ? tools.map(shownTool) : [],
    text: { ...UNSAID.text, ...Object(text) },
    reasoning: { ...UNSAID.reasoning, ...Object(reasoning) },
  };
}

const shownTool = (tool: unknown): unknown =>
  isRecord(tool) && tool.type === 'function'
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool;

const UNSAID = {
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  temperature: 1,
  top_p: 1,
  frequency_penalty: 0,
  presence_penalty: 0,
  top_logprobs: 0,
  truncation: 'disabled',
  text: { format: { type: 'text' } },
  reasoning: { effort: null, summary: null },
  max_output_tokens: null,
  max_tool_calls: null,
  previous_response_id: null,
  store: false,
  background: false,
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
};

function failedText(reply: ChatReply, { message, type }: NonNullable<Rule['error']>, usage: string): string {
  const code = type ?? 'server_error';
  const text = responseText(reply, 'failed', [], usage);
  return text.replace('"error":null', `"error":${JSON.stringify({ code, message })},"error_type":"${code}"`);
}

const endUsage = (reply: ChatReply): string => usageMember(reply, responsesCounters(reply.use, reply.runs));

function events(reply: ChatReply): SimEvent[] {
  const { rule } = reply;
  const items = itemsOf(reply);
  const running = `"response":${responseText(reply, 'in_progress', [], ',"usage":null')}`;
  const list: SimEvent[] = [rawEvent('response.created', running), rawEvent('response.in_progress', running)];
  const contents: SimEvent[] = items.flatMap((item, index) => [
    event('response.output_item.added', { output_index: index, item: item.start }),
    ...item.events(index),
    event('response.output_item.done', { output_index: index, item: item.whole }),
  ]);
  if (rule.error?.at === 'stream') {
    const kept = contents.slice(0, rule.error.afterChunks + 1);
    // What was written until then is billed, and counted only later.
    const failed = failedText(reply, rule.error, ',"usage":null');
    const last = rawEvent('response.failed', `"response":${failed}`);
    return numbered([...list, ...kept, last]);
  }
  list.push(...contents);
  const status = endStatus(reply);
  if (rule.done) {
    list.push(
      rawEvent(`response.${status}`, `"response":${responseText(reply, status, items, endUsage(reply))}`),
    );
  }
  return numbered(list);
}

const event = (name: string, members: Record<string, unknown>, text = ''): SimEvent => ({
  ...rawEvent(name, JSON.stringify(members).slice(1, -1)),
  textBytes: Buffer.byteLength(text),
});

const rawEvent = (name: string, members: string): SimEvent => ({
  name,
  json: `{"type":"${name}",${members}}`,
  textBytes: 0,
});

const numbered = (list: readonly SimEvent[]): SimEvent[] =>
  list.map((each, index) => ({ ...each, json: `${each.json.slice(0, -1)},"sequence_number":${index}}` }));
