import type { FormatName } from '#core/catalog/catalog.ts';

/** What a provider writes in each format, event by event, so that a test can put any other in between. */
export interface Wire {
  /** Opens the answer. */
  start(id?: string): string;
  /** Whatever has to come before the first text. */
  textStart: string;
  text(text: string): string;
  /** One whole call of a tool, its arguments in one piece. */
  toolCall(index: number, id: string, name: string, json: string): string;
  /** What closes it, with its usage as JSON text. */
  end(usage?: string): string;
  /** The whole answer at once. */
  json(text: string, usage?: string): string;
}

export const namedEvent = (type: string, members: object, rawMembers = ''): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members }).slice(0, -1)}${rawMembers}}\n\n`;

const MODEL = 'faregate-sim/small';

const chunk = (choice: object | null, more = '', id = 'gen-chat-1'): string => {
  const choices = choice === null ? [] : [{ index: 0, finish_reason: null, ...choice }];
  const head = JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: MODEL, choices });
  return `data: ${head.slice(0, -1)}${more}}\n\n`;
};

const chat: Wire = {
  start: (id) => chunk({ delta: { role: 'assistant', content: '' } }, '', id),
  textStart: '',
  text: (content) => chunk({ delta: { content } }),
  toolCall: (index, id, name, json) =>
    chunk({ delta: { tool_calls: [{ index, id, type: 'function', function: { name, arguments: json } }] } }),
  end: (usage = '{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}') =>
    `${chunk({ delta: {}, finish_reason: 'stop' })}${chunk(null, `,"usage":${usage}`)}data: [DONE]\n\n`,
  json: (content, usage = '{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}') =>
    `${JSON.stringify({
      id: 'gen-chat-1',
      object: 'chat.completion',
      created: 1,
      model: MODEL,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    }).slice(0, -1)},"usage":${usage}}`,
};

const message = (id: string, content: unknown[], stop: string | null) => ({
  id,
  type: 'message',
  role: 'assistant',
  model: MODEL,
  content,
  stop_reason: stop,
  stop_sequence: null,
});

const block = (index: number, begun: object, delta: object): string =>
  namedEvent('content_block_start', { index, content_block: begun }) +
  namedEvent('content_block_delta', { index, delta }) +
  namedEvent('content_block_stop', { index });

const messages: Wire = {
  start: (id = 'msg_1') =>
    namedEvent('message_start', {
      message: { ...message(id, [], null), usage: { input_tokens: 5, output_tokens: 1 } },
    }),
  textStart: namedEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  text: (text) => namedEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  toolCall: (index, id, name, json) =>
    block(
      index + 1,
      { type: 'tool_use', id, name, input: {} },
      { type: 'input_json_delta', partial_json: json },
    ),
  end: (usage = '{"input_tokens":5,"output_tokens":7}') =>
    namedEvent(
      'message_delta',
      { delta: { stop_reason: 'end_turn', stop_sequence: null } },
      `,"usage":${usage}`,
    ) + namedEvent('message_stop', {}),
  json: (text, usage = '{"input_tokens":5,"output_tokens":7}') =>
    `${JSON.stringify(message('msg_1', [{ type: 'text', text }], 'end_turn')).slice(0, -1)},"usage":${usage}}`,
};

const response = (id: string, status: string, output: unknown[]) => ({
  id,
  object: 'response',
  created_at: 1,
  status,
  error: null,
  model: MODEL,
  output,
});

const outputText = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});

const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };

const RESPONSES_USAGE = '{"input_tokens":5,"output_tokens":7,"total_tokens":12}';

/** The last event holds the whole answer: of a test's texts, none. */
const responses: Wire = {
  start: (id = 'resp_1') => namedEvent('response.created', { response: response(id, 'in_progress', []) }),
  textStart: namedEvent('response.output_item.added', {
    output_index: 0,
    item: { id: 'msg_1', type: 'message', role: 'assistant', content: [] },
  }),
  text: (delta) => namedEvent('response.output_text.delta', { ...at, delta }),
  toolCall: (index, id, name, json) =>
    namedEvent('response.output_item.done', {
      output_index: index + 1,
      item: { id: `fc_${index}`, type: 'function_call', call_id: id, name, arguments: json },
    }),
  end: (usage = RESPONSES_USAGE) =>
    namedEvent(
      'response.completed',
      {},
      `,"response":${JSON.stringify(response('resp_1', 'completed', [outputText('Hi')])).slice(0, -1)},"usage":${usage}}`,
    ),
  json: (text, usage = RESPONSES_USAGE) =>
    `${JSON.stringify(response('resp_1', 'completed', [outputText(text)])).slice(0, -1)},"usage":${usage}}`,
};

export const wires: Readonly<Record<FormatName, Wire>> = {
  chat: chat,
  messages,
  responses,
};

export const wholeStream = (wire: Wire, ...texts: string[]): string =>
  wire.start() + wire.textStart + texts.map((text) => wire.text(text)).join('') + wire.end();
