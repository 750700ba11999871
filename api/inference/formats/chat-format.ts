import { isRecord } from '#core/is-record.ts';
import { type ChatCompletionRequest, parseChatRequest } from '../../contract/chat-request.ts';
import { errorTable } from '../../contract/errors.ts';
import { refuseFields } from '../policy/field-policy.ts';
import { refuseChatTools } from '../policy/tool-policy.ts';
import type { CallFormat, CallRequest, ReadRequest } from './call-format.ts';
import { ANSWERED_BY, readChatAnswer, showChatAnswer } from './chat-answer.ts';
import { ChatAssembly } from './chat-assembly.ts';
import { buildChatBody } from './chat-body.ts';
import { countChatMedia } from './chat-media.ts';
import { ChatStream } from './chat-stream.ts';
import { readMembers } from './output-caps.ts';
import { dataEvent, idIn } from './stream-text.ts';

const capFields: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens']);
const pricedFields: ReadonlySet<string> = new Set([...capFields, 'n', 'prediction']);

/** `POST /chat/completions`. */
export const chatFormat: CallFormat = {
  name: 'chat',
  readRequest,
  capFields,
  countMedia: countChatMedia,
  refuseFields: (body) => refuseFields(body, pricedFields),
  refuseTools: refuseChatTools,
  buildBody: buildChatBody,
  readAnswer: readChatAnswer,
  showAnswer: showChatAnswer,
  openStream: (names) => new ChatStream(names),
  openAssembly: () => new ChatAssembly(),
  idOf: (firstEvent) => idIn(firstEvent, null),
  /** Spec: Chat-completions stream 4. An empty delta, `finish_reason` `error`, and the error. */
  streamError({ id, createdAtS, model }, { code, message }) {
    const chunk = {
      id,
      object: 'chat.completion.chunk',
      created: createdAtS,
      model,
      provider: ANSWERED_BY,
      choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      error: { message, type: errorTable[code].type, code },
    };
    return Buffer.concat([dataEvent(Buffer.from(JSON.stringify(chunk))), dataEvent(Buffer.from('[DONE]'))]);
  },
};

/** A router's own clients ask for usage in a word of their own. `null`: nothing is said. */
function asksUsage(
  body: unknown,
  { stream, stream_options: options }: ChatCompletionRequest,
): boolean | null {
  const include = isRecord(body) && isRecord(body.usage) ? body.usage.include : null;
  if (stream !== true || options?.include_usage === true || include === true) return true;
  return options?.include_usage === false || include === false ? false : null;
}

function readRequest(body: unknown): ReadRequest {
  const checked = parseChatRequest(body);
  if (!checked.ok) return checked;
  const { request } = checked;
  const read: CallRequest = {
    ...readMembers(request, capFields),
    showUsage: asksUsage(body, request),
    showReasoning: request.reasoning?.exclude !== true,
    extraOutputTokens:
      request.prediction === undefined ? 0 : Buffer.byteLength(JSON.stringify(request.prediction)),
    choices: request.n ?? 1,
  };
  return { ok: true, request: read };
}
