import { errorBody } from '../../contract/error-body.ts';
import { parseMessagesRequest } from '../../contract/messages-request.ts';
import { answerBounds, memberText, scanJsonObject } from '../json/json-object.ts';
import { refuseFields } from '../policy/field-policy.ts';
import { refuseMessagesTools } from '../policy/tool-policy.ts';
import type { CallFormat, ReadRequest } from './call-format.ts';
import { readMessagesAnswer, showMessagesAnswer } from './messages-answer.ts';
import { MessagesAssembly } from './messages-assembly.ts';
import { buildMessagesBody } from './messages-body.ts';
import { countMessagesMedia } from './messages-media.ts';
import { MessagesStream } from './messages-stream.ts';
import { readOutputCaps } from './output-caps.ts';
import { namedEvent, objectIn } from './stream-text.ts';

/** `POST /messages`. */
export const messagesFormat: CallFormat = {
  endpoint: 'messages',
  readRequest,
  capFields: new Set(['max_tokens']),
  countMedia: countMessagesMedia,
  refuseFields: (body) => refuseFields(body, readFields),
  refuseTools: refuseMessagesTools,
  buildBody: buildMessagesBody,
  readAnswer: readMessagesAnswer,
  showAnswer: showMessagesAnswer,
  openStream: (names) => new MessagesStream(names),
  openAssembly: () => new MessagesAssembly(),
  idOf(firstEvent) {
    const event = scanJsonObject(firstEvent, answerBounds);
    const message = typeof event === 'string' ? null : objectIn(event, 'message');
    return message === null ? '' : (memberText(message, 'id') ?? '');
  },
  streamError: (_identity, error) =>
    namedEvent('error', Buffer.from(JSON.stringify(errorBody(error, 'messages')))),
};

const readFields: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'tools',
  'tool_choice',
  'thinking',
  'reasoning',
  'models',
  'plugins',
  'provider',
  'metadata',
  'user',
  'session_id',
]);

function readRequest(body: unknown): ReadRequest {
  const checked = parseMessagesRequest(body);
  if (!checked.ok) return checked;
  const { request } = checked;
  return {
    ok: true,
    request: {
      model: request.model,
      fallbacks: request.models ?? [],
      stream: request.stream === true,
      showUsage: true,
      showReasoning: true,
      ...readOutputCaps(request, ['max_tokens']),
      extraOutputTokens: 0,
      choices: 1,
      hasTools: (request.tools?.length ?? 0) > 0,
    },
  };
}
