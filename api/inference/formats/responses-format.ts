import { errorBody } from '../../contract/error-body.ts';
import { parseResponsesRequest } from '../../contract/responses-request.ts';
import { answerBounds, memberText, scanJsonObject } from '../json/json-object.ts';
import { refuseFields } from '../policy/field-policy.ts';
import { refuseResponsesTools } from '../policy/tool-policy.ts';
import type { CallFormat, ReadRequest } from './call-format.ts';
import { readOutputCaps } from './output-caps.ts';
import { readResponsesAnswer, showResponsesAnswer } from './responses-answer.ts';
import { ResponsesAssembly } from './responses-assembly.ts';
import { buildResponsesBody } from './responses-body.ts';
import { countResponsesMedia } from './responses-media.ts';
import { ResponsesStream } from './responses-stream.ts';
import { namedEvent, objectIn } from './stream-text.ts';

/** `POST /responses`, stateless. */
export const responsesFormat: CallFormat = {
  endpoint: 'responses',
  readRequest,
  capFields: new Set(['max_output_tokens']),
  countMedia: countResponsesMedia,
  refuseFields: (body) => refuseFields(body, readFields),
  refuseTools: refuseResponsesTools,
  buildBody: buildResponsesBody,
  readAnswer: readResponsesAnswer,
  showAnswer: showResponsesAnswer,
  openStream: (names) => new ResponsesStream(names),
  openAssembly: () => new ResponsesAssembly(),
  idOf(firstEvent) {
    const event = scanJsonObject(firstEvent, answerBounds);
    const response = typeof event === 'string' ? null : objectIn(event, 'response');
    return response === null ? '' : (memberText(response, 'id') ?? '');
  },
  /** Clients of one kind read the members beside `error`, those of another `error` itself. */
  streamError(_identity, error) {
    const { code, message, param } = error;
    const event = { type: 'error', sequence_number: 0, code, message, param, ...errorBody(error, 'chat') };
    return namedEvent('error', Buffer.from(JSON.stringify(event)));
  },
};

const readFields: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'stream',
  'tools',
  'tool_choice',
  'max_tool_calls',
  'models',
  'plugins',
  'provider',
  'reasoning',
  'thinking',
  'user',
  'session_id',
  'prompt_cache_key',
  'safety_identifier',
]);

function readRequest(body: unknown): ReadRequest {
  const checked = parseResponsesRequest(body);
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
      ...readOutputCaps(request, ['max_output_tokens']),
      extraOutputTokens: 0,
      choices: 1,
      hasTools: (request.tools?.length ?? 0) > 0,
    },
  };
}
