import { messagesExamples } from '../contract/examples.ts';
import { MessagesAnswer, MessagesEvent } from '../contract/messages-answer.ts';
import { MessagesRequest } from '../contract/messages-request.ts';
import { inferenceErrors } from './inference-errors.ts';
import { rawRoute, t } from './trpc.ts';

export const messagesRouter = t.router({
  create: rawRoute(
    {
      method: 'POST',
      path: '/messages',
      operationId: 'createMessage',
      reserves: true,
      tag: 'Inference',
      summary: 'Create a message',
      description:
        'Runs a text model by the messages format. The worst-case cost is held from the balance when the call ' +
        'starts, and the real cost (`usage.cost`) is charged when it ends. With `stream: true` the answer comes ' +
        'as server-sent events, ended by `message_stop`. Body at most 4 MB.',
      errors: inferenceErrors,
      headers: ['x-service-call-id', 'x-request-id', 'request-id', 'x-generation-id', 'x-hold-usd'],
      event: MessagesEvent,
      examples: messagesExamples,
    },
    { request: MessagesRequest, answer: MessagesAnswer },
    (call) => call.deps.runCall('messages', call),
  ),
});
