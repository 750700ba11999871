import { ChatCompletion, ChatCompletionChunk } from '../contract/chat-completion.ts';
import { ChatCompletionRequest } from '../contract/chat-request.ts';
import { chatExamples } from '../contract/examples.ts';
import { inferenceErrors } from './inference-errors.ts';
import { rawRoute, t } from './trpc.ts';

export const chatRouter = t.router({
  create: rawRoute(
    {
      method: 'POST',
      path: '/chat/completions',
      operationId: 'createChatCompletion',
      reserves: true,
      tag: 'Inference',
      summary: 'Create a chat completion',
      description:
        'Runs a text model. The worst-case cost is held from the balance when the call starts, and the ' +
        'real cost (`usage.cost`) is charged when it ends. With `stream: true` the answer comes as ' +
        'server-sent events, ended by `data: [DONE]`. Body at most 4 MB.',
      errors: inferenceErrors,
      headers: ['x-service-call-id', 'x-request-id', 'x-generation-id', 'x-hold-usd'],
      event: ChatCompletionChunk,
      examples: chatExamples,
    },
    { request: ChatCompletionRequest, answer: ChatCompletion },
    (call) => call.deps.runCall('chat/completions', call),
  ),
});
