import { parseChatRequest } from '../../contract/chat-request.ts';
import { errorTable } from '../../contract/errors.ts';
import { answerBounds, memberText, scanJsonObject } from '../json/json-object.ts';
import { refuseFields } from '../policy/field-policy.ts';
import { refuseChatTools } from '../policy/tool-policy.ts';
import type { CallFormat, CallRequest, ReadRequest } from './call-format.ts';
import { readChatAnswer, showChatAnswer } from './chat-answer.ts';
import { ChatAssembly } from './chat-assembly.ts';
import { buildChatBody } from './chat-body.ts';
import { countChatMedia } from './chat-media.ts';
import { ChatStream } from './chat-stream.ts';
import { readOutputCaps } from './output-caps.ts';
import { dataEvent } from './stream-text.ts';

/** `POST /chat/completions`. */
export const chatFormat: CallFormat = {
  endpoint: 'chat/completions',
  readRequest,
  capFields: new Set(['max_tokens', 'max_completion_tokens']),
  countMedia: countChatMedia,
  refuseFields: (body) => refuseFields(body, readFields),
  refuseTools: refuseChatTools,
  buildBody: buildChatBody,
  readAnswer: readChatAnswer,
  showAnswer: showChatAnswer,
  openStream: (names) => new ChatStream(names),
  openAssembly: () => new ChatAssembly(),
  idOf(firstEvent) {
    const object = scanJsonObject(firstEvent, answerBounds);
    return typeof object === 'string' ? '' : (memberText(object, 'id') ?? '');
  },
  /** Spec: Chat-completions stream 4. An empty delta, `finish_reason` `error`, and the error. */
  streamError({ id, createdAtS, model }, { code, message }) {
    const chunk = {
      id,
      object: 'chat.completion.chunk',
      created: createdAtS,
      model,
      choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      error: { message, type: errorTable[code].type, code },
    };
    return Buffer.concat([dataEvent(Buffer.from(JSON.stringify(chunk))), dataEvent(Buffer.from('[DONE]'))]);
  },
};

const readFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'models',
  'plugins',
  'provider',
  'reasoning',
  'thinking',
  'prediction',
  'user',
  'session_id',
  'prompt_cache_key',
  'safety_identifier',
]);

function readRequest(body: unknown): ReadRequest {
  const checked = parseChatRequest(body);
  if (!checked.ok) return checked;
  const { request } = checked;
  const read: CallRequest = {
    model: request.model,
    fallbacks: request.models ?? [],
    stream: request.stream === true,
    showUsage: request.stream !== true || request.stream_options?.include_usage === true,
    showReasoning: request.reasoning?.exclude !== true,
    ...readOutputCaps(request, ['max_tokens', 'max_completion_tokens']),
    extraOutputTokens:
      request.prediction === undefined ? 0 : Buffer.byteLength(JSON.stringify(request.prediction)),
    choices: request.n ?? 1,
    hasTools: (request.tools?.length ?? 0) > 0,
  };
  return { ok: true, request: read };
}
