import { responsesExamples } from '../contract/examples.ts';
import { ResponsesAnswer, ResponsesEvent } from '../contract/responses-answer.ts';
import { ResponsesRequest } from '../contract/responses-request.ts';
import { inferenceErrors } from './inference-errors.ts';
import { rawRoute, t } from './trpc.ts';

export const responsesRouter = t.router({
  create: rawRoute(
    {
      method: 'POST',
      path: '/responses',
      operationId: 'createResponse',
      reserves: true,
      tag: 'Inference',
      summary: 'Create a response',
      description:
        'Runs a text model by the responses format. Nothing is stored: the conversation is sent as input items ' +
        'each time. The worst-case cost is held from the balance when the call starts, and the real cost ' +
        '(`usage.cost`) is charged when it ends. With `stream: true` the answer comes as server-sent events, ' +
        'ended by `response.completed`. Body at most 4 MB.',
      errors: inferenceErrors,
      headers: ['x-service-call-id', 'x-request-id', 'x-generation-id', 'x-hold-usd'],
      event: ResponsesEvent,
      examples: responsesExamples,
    },
    { request: ResponsesRequest, answer: ResponsesAnswer },
    (call) => call.deps.runCall('responses', call),
  ),
});
