import { errorBody } from '../../contract/error-body.ts';
import { parseResponsesRequest } from '../../contract/responses-request.ts';
import { refuseFields } from '../policy/field-policy.ts';
import { refuseResponsesTools } from '../policy/tool-policy.ts';
import type { CallFormat, ReadRequest } from './call-format.ts';
import { readMembers } from './output-caps.ts';
import { readResponsesAnswer, showResponsesAnswer } from './responses-answer.ts';
import { ResponsesAssembly } from './responses-assembly.ts';
import { buildResponsesBody } from './responses-body.ts';
import { countResponsesMedia } from './responses-media.ts';
import { ResponsesStream } from './responses-stream.ts';
import { idIn, namedEvent } from './stream-text.ts';

const capFields: ReadonlySet<string> = new Set(['max_output_tokens']);

/** `POST /responses`, stateless. */
export const responsesFormat: CallFormat = {
  name: 'responses',
  readRequest,
  capFields,
  countMedia: countResponsesMedia,
  refuseFields: (body) => refuseFields(body, capFields),
  refuseTools: refuseResponsesTools,
  buildBody: buildResponsesBody,
  readAnswer: readResponsesAnswer,
  showAnswer: showResponsesAnswer,
  openStream: (names) => new ResponsesStream(names),
  openAssembly: () => new ResponsesAssembly(),
  idOf: (firstEvent) => idIn(firstEvent, 'response'),
  /** Clients of one kind read the members beside `error`, those of another `error` itself. */
  streamError(_identity, error) {
    const { code, message, param } = error;
    const event = { type: 'error', sequence_number: 0, code, message, param, ...errorBody(error, 'chat') };
    return namedEvent('error', Buffer.from(JSON.stringify(event)));
  },
};

function readRequest(body: unknown): ReadRequest {
  const checked = parseResponsesRequest(body);
  return checked.ok ? { ok: true, request: readMembers(checked.request, capFields) } : checked;
}
