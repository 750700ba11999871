import { argumentPieces } from './chat-answer.ts';
import { type ChatReply, CITATIONS, chunkUsage, headText, renderJson, toolCallRow } from './chat-render.ts';
import { errorBody, refusal, streamError } from './error-body.ts';
import type { TokenUse } from './prices.ts';
import type { SimEvent, SimFormat } from './sim-format.ts';
import { textTokens } from './tokens.ts';

/** `POST /chat/completions`. */
export const simChat: SimFormat = {
  path: '/chat/completions',
  toChat: (body) => body,
  json: renderJson,
  events: chatEvents,
  refusal,
  errorBody,
};

const STREAM_ERROR_STATUS = 502;
const DONE: SimEvent = { name: null, json: '[DONE]', textBytes: 0 };

/** Every chunk of a streamed answer. */
function chatEvents(reply: ChatReply): SimEvent[] {
  const { rule, call } = reply;
  const writer = chunkWriter(reply);
  const contents = contentChunks(reply, writer);
  if (rule.error?.at === 'stream') {
    const error = JSON.stringify(streamError(rule.status ?? STREAM_ERROR_STATUS, rule.error));
    const last = writer.chunk(0, '{"content":""}', 'error', '', `,"error":${error}`);
    return [...contents.slice(0, rule.error.afterChunks + 1), last];
  }
  const usage = chunkUsage(reply, reply.use, reply.costAtto);
  const onLast = rule.usageAt === 'last_chunk' || rule.usageAt === 'every_chunk' ? `,"usage":${usage}` : '';
  for (let index = 0; index < call.choices; index++) {
    const isLast = index === call.choices - 1;
    contents.push(writer.chunk(index, '{}', reply.choice.finishReason, isLast ? onLast : ''));
  }
  const done = rule.done ? [DONE] : [];
  const usageChunk: SimEvent = {
    name: null,
    json: `{${writer.head},"choices":[],"usage":${usage}}`,
    textBytes: 0,
  };
  if (reply.dialect === 'openai' && !call.includeUsage) return [...contents, ...done];
  switch (rule.usageAt) {
    case 'end':
      return [...contents, usageChunk, ...done];
    case 'twice':
      return [...contents, usageChunk, usageChunk, ...done];
    case 'after_done':
      return [...contents, ...done, usageChunk];
    case 'last_chunk':
    case 'every_chunk':
    case 'missing':
      return [...contents, ...done];
    default:
      return rule.usageAt satisfies never;
  }
}

interface ChunkWriter {
  head: string;
  chunk(index: number, delta: string, finish: string | null, usage?: string, more?: string): SimEvent;
}

function chunkWriter(reply: ChatReply): ChunkWriter {
  const head = headText(reply, 'chat.completion.chunk');
  const nullUsage = reply.dialect === 'openai' && reply.call.includeUsage ? ',"usage":null' : '';
  return {
    head,
    chunk(index, delta, finish, usage = '', more = '') {
      const reason = finish === null ? 'null' : JSON.stringify(finish);
      const choice = `{"index":${index},"delta":${delta},"finish_reason":${reason},"native_finish_reason":${reason}}`;
      return {
        name: null,
        json: `{${head},"choices":[${choice}]${usage === '' ? nullUsage : usage}${more}}`,
        textBytes: 0,
      };
    },
  };
}

/**
 * The first chunk has the role; then reasoning, text and tool calls, for all choices side by side. The pieces of several
 * calls take turns, as their indexes allow.
 */
function contentChunks(reply: ChatReply, writer: ChunkWriter): SimEvent[] {
  const { choice, call } = reply;
  const chunks: SimEvent[] = [];
  let writtenTokens = 0;
  function push(delta: string, text: string): void {
    for (let index = 0; index < call.choices; index++) {
      writtenTokens += textTokens(text);
      const usage =
        reply.rule.usageAt === 'every_chunk' ? `,"usage":${usageSoFar(reply, writtenTokens)}` : '';
      chunks.push({ ...writer.chunk(index, delta, null, usage), textBytes: Buffer.byteLength(text) });
    }
  }
  push('{"role":"assistant","content":""}', '');
  if (choice.reasoning !== '') push(`{"reasoning":${JSON.stringify(choice.reasoning)}}`, choice.reasoning);
  for (const piece of choice.pieces) push(`{"content":${JSON.stringify(piece)}}`, piece);
  if (reply.runs.searches > 0) push(`{"annotations":${JSON.stringify(CITATIONS)}}`, '');
  choice.toolCalls.forEach((each, index) => {
    push(`{"tool_calls":[${JSON.stringify(toolCallRow({ ...each, argumentsJson: '' }, index))}]}`, '');
  });
  const pieces = choice.toolCalls.map(({ argumentsJson }) => argumentPieces(argumentsJson));
  for (let turn = 0; pieces.some(({ length }) => turn < length); turn++) {
    pieces.forEach((list, index) => {
      const piece = list[turn];
      if (piece === undefined) return;
      push(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(piece)}}}]}`, piece);
    });
  }
  return chunks;
}

/** Cumulative, as from servers that put usage on every chunk: only the last one counts. */
function usageSoFar(reply: ChatReply, writtenTokens: number): string {
  const use: TokenUse = { ...reply.use, completionTokens: writtenTokens, reasoningTokens: 0 };
  return chunkUsage(reply, use, reply.costWith(use));
}
