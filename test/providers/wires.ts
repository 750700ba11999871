import { providerKinds } from '../../api/providers/provider-kinds.ts';
import type { Bytes, ProviderWire, WireUsage } from './provider-contract.ts';

const event = (value: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

const chatUsage = (usage: WireUsage | null): object =>
  usage === null ? {} : { usage: { prompt_tokens: usage.prompt, completion_tokens: usage.completion } };

const textOf = (body: Record<string, unknown>): string =>
  (body.messages as { content: string }[]).map(({ content }) => content).join(' ');

/** A server of OpenAI's formats. */
export const openaiWire: ProviderWire = {
  kind: providerKinds.openai,
  format: 'chat',
  readRequest: ({ headers, body }) => ({
    model: String(body.model),
    key: String(headers.authorization).replace(/^Bearer /, ''),
    prompt: textOf(body),
    stream: body.stream === true,
  }),
  answer: (text, usage) =>
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      ...chatUsage(usage),
    }),
  stream: (pieces, usage) => {
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
    return [
      ...pieces.map((content) =>
        event({ ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
      ),
      event({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...chatUsage(usage) }),
      event('[DONE]'),
    ];
  },
  streamType: 'text/event-stream',
  error: (message) => JSON.stringify({ error: { message } }),
};

/** A router says with each answer, and later in a record, what it charged. */
export const openrouterWire: ProviderWire = {
  ...openaiWire,
  kind: providerKinds.openrouter,
  answer: (text, usage) => withCost(openaiWire.answer(text, usage), usage),
  stream: (pieces, usage) => openaiWire.stream(pieces, usage).map((part) => withCost(part, usage)),
  record: JSON.stringify({
    data: { total_cost: 0.000039, native_tokens_prompt: 11, native_tokens_completion: 7 },
  }),
};

const withCost = (text: Bytes, usage: WireUsage | null): Bytes =>
  usage === null
    ? text
    : text.toString().replace('"completion_tokens":', `"cost":${usage.cost.toFixed(6)},"completion_tokens":`);

export const simulatorWire: ProviderWire = { ...openrouterWire, kind: providerKinds.simulator };

const messagesUsage = (usage: WireUsage | null): object =>
  usage === null ? {} : { usage: { input_tokens: usage.prompt, output_tokens: usage.completion } };

/** Anthropic's own interface. */
export const anthropicWire: ProviderWire = {
  kind: providerKinds.anthropic,
  format: 'messages',
  readRequest: ({ headers, body }) => ({
    model: String(body.model),
    key: String(headers['x-api-key']),
    prompt: textOf(body),
    stream: body.stream === true,
  }),
  answer: (text, usage) =>
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      ...messagesUsage(usage),
    }),
  stream: (pieces, usage) => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
    const start = { ...message, stop_reason: null, ...messagesUsage(usage && { ...usage, completion: 1 }) };
    return [
      event({ type: 'message_start', message: start }, 'message_start'),
      event(
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        'content_block_start',
      ),
      ...pieces.map((text) =>
        event(
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
          'content_block_delta',
        ),
      ),
      event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
      event(
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          ...(usage && { usage: { output_tokens: usage.completion } }),
        },
        'message_delta',
      ),
      event({ type: 'message_stop' }, 'message_stop'),
    ];
  },
  streamType: 'text/event-stream',
  error: (message) => JSON.stringify({ type: 'error', error: { type: 'some_error', message } }),
};

/** One for every kind of the registry. */
export const wires: readonly ProviderWire[] = [openrouterWire, openaiWire, anthropicWire, simulatorWire];
