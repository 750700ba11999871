import { isRecord } from '#core/is-record.ts';
import { errorBody } from '../../contract/error-body.ts';
import { parseResponsesRequest } from '../../contract/responses-request.ts';
import type { CallPlan } from '../admit/call-plan.ts';
import { refuseFields } from '../policy/field-policy.ts';
import { refuseResponsesTools } from '../policy/tool-policy.ts';
import type { CallFormat, ReadRequest } from './call-format.ts';
import { readMembers } from './output-caps.ts';
import { readResponsesAnswer, showResponsesAnswer } from './responses-answer.ts';
import { ResponsesAssembly } from './responses-assembly.ts';
import { buildResponsesBody } from './responses-body.ts';
import { echoOf } from './responses-echo.ts';
import { countResponsesMedia } from './responses-media.ts';
import { ResponsesStream } from './responses-stream.ts';
import { idIn, typedEvent } from './stream-text.ts';

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
  /**
   * Clients of one kind read the members beside `error`, those of another `error` itself. Others wait for the response that
   * failed, and begin again without it.
   */
  streamError({ id, createdAtS, model }, error, shownEvents, plan) {
    const { code, message, param } = error;
    const told = { code, message, param, ...errorBody(error, 'chat') };
    const response = {
      id,
      object: 'response',
      created_at: createdAtS,
      completed_at: null,
      status: 'failed',
      error: { code, message },
      incomplete_details: null,
      model,
      output: [],
      usage: null,
      // Clients read these members of every response.
      ...echoedBy(plan),
    };
    return Buffer.concat([
      numbered('error', shownEvents, told),
      numbered('response.failed', shownEvents + 1, { response }),
    ]);
  },
};

function echoedBy(plan: Pick<CallPlan, 'body'>): object {
  const echo: unknown = JSON.parse(`{${echoOf(plan)}}`);
  return isRecord(echo) ? echo : {};
}

const numbered = (type: string, sequence_number: number, members: object): Buffer =>
  typedEvent(type, { sequence_number, ...members });

function readRequest(body: unknown): ReadRequest {
  const checked = parseResponsesRequest(body);
  return checked.ok ? { ok: true, request: readMembers(checked.request, capFields) } : checked;
}
