import { errorBody } from '../../contract/error-body.ts';
import { parseMessagesRequest } from '../../contract/messages-request.ts';
import { refuseFields } from '../policy/field-policy.ts';
import { refuseMessagesTools } from '../policy/tool-policy.ts';
import type { CallFormat, ReadRequest } from './call-format.ts';
import { readMessagesAnswer, showMessagesAnswer } from './messages-answer.ts';
import { MessagesAssembly } from './messages-assembly.ts';
import { buildMessagesBody } from './messages-body.ts';
import { countMessagesMedia } from './messages-media.ts';
import { MessagesStream } from './messages-stream.ts';
import { readMembers } from './output-caps.ts';
import { idIn, namedEvent } from './stream-text.ts';

const capFields: ReadonlySet<string> = new Set(['max_tokens']);

/** `POST /messages`. */
export const messagesFormat: CallFormat = {
  name: 'messages',
  readRequest,
  capFields,
  countMedia: countMessagesMedia,
  refuseFields: (body) => refuseFields(body, capFields),
  refuseTools: refuseMessagesTools,
  buildBody: buildMessagesBody,
  readAnswer: readMessagesAnswer,
  showAnswer: showMessagesAnswer,
  openStream: (names) => new MessagesStream(names),
  openAssembly: () => new MessagesAssembly(),
  idOf: (firstEvent) => idIn(firstEvent, 'message'),
  streamError: (_identity, error) =>
    namedEvent('error', Buffer.from(JSON.stringify(errorBody(error, 'messages')))),
};

function readRequest(body: unknown): ReadRequest {
  const checked = parseMessagesRequest(body);
  return checked.ok ? { ok: true, request: readMembers(checked.request, capFields) } : checked;
}
