import { ChatCompletion, ChatCompletionChunk } from '../contract/chat-completion.ts';
import { ChatCompletionRequest } from '../contract/chat-request.ts';
import { chatExamples } from '../contract/examples.ts';
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
      errors: [
        'agent_inactive',
        'agent_suspended',
        'unknown_model',
        'model_not_served',
        'tool_not_served',
        'request_over_capacity',
        'insufficient_balance',
        'key_limit',
        'rate_limited',
        'too_many_running_calls',
        'daily_share_used',
        'model_busy',
        'gateway_busy',
        'gateway_capacity',
        'gateway_unavailable',
        'catalog_unavailable',
        'provider_unavailable',
        'upstream_timeout',
        'upstream_unreachable',
        'provider_error',
        'no_provider',
        'provider_refused',
        'unprocessable',
        'upstream_error',
      ],
      headers: ['x-service-call-id', 'x-request-id', 'x-generation-id', 'x-hold-usd'],
      event: ChatCompletionChunk,
      examples: chatExamples,
    },
    { request: ChatCompletionRequest, answer: ChatCompletion },
    (call) => call.deps.runChatCompletion(call),
  ),
});
