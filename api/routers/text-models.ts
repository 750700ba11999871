import type { z } from 'zod';
import type { FormatName } from '#core/catalog/catalog.ts';
import { defaultLimits, MEGABYTE } from '#core/limits.ts';
import { ChatCompletionRequest } from '../contract/chat-request.ts';
import { errorsOfCall } from '../contract/errors.ts';
import { chatExamples, messagesExamples, modelListExample, responsesExamples } from '../contract/examples.ts';
import { MessagesRequest } from '../contract/messages-request.ts';
import {
  ChatCompletion,
  ChatCompletionChunk,
  MessagesAnswer,
  MessagesEvent,
  ResponsesAnswer,
  ResponsesEvent,
} from '../contract/model-answers.ts';
import { ModelList } from '../contract/model-list.ts';
import { ResponsesRequest } from '../contract/responses-request.ts';
import type { RouteFacts } from '../contract/route.ts';
import { rawQuery, rawRoute, t } from './trpc.ts';

/** The route of one of the three formats. */
const formatRoute = <Request extends z.ZodObject, Answer extends z.ZodObject>(
  format: FormatName,
  facts: Omit<RouteFacts, 'method' | 'tag' | 'auth' | 'reserves' | 'errors'>,
  schemas: { request: Request; answer: Answer },
) =>
  rawRoute(
    {
      method: 'POST',
      reserves: true,
      tag: 'Inference',
      errors: errorsOfCall('text'),
      headers: ['x-service-call-id', 'x-request-id', 'x-generation-id', 'x-hold-usd', 'x-ignored-fields'],
      ...facts,
      description: `${facts.description} Body at most ${defaultLimits.requestBodyBytes / MEGABYTE} MB.`,
    },
    schemas,
    (call) => call.deps.runCall(format, call),
  );

export const chatRouter = t.router({
  create: formatRoute(
    'chat',
    {
      path: '/chat/completions',
      operationId: 'createChatCompletion',
      summary: 'Create a chat completion',
      description:
        'Runs a text model. The worst-case cost is held from the balance when the call starts, and the ' +
        'real cost (`usage.cost`) is charged when it ends. With `stream: true` the answer comes as ' +
        'server-sent events, ended by `data: [DONE]`.',
      event: ChatCompletionChunk,
      examples: chatExamples,
    },
    { request: ChatCompletionRequest, answer: ChatCompletion },
  ),
});

export const responsesRouter = t.router({
  create: formatRoute(
    'responses',
    {
      path: '/responses',
      operationId: 'createResponse',
      summary: 'Create a response',
      description:
        'Runs a text model by the responses format. Nothing is stored: the conversation is sent as input items ' +
        'each time. The worst-case cost is held from the balance when the call starts, and the real cost ' +
        '(`usage.cost`) is charged when it ends. With `stream: true` the answer comes as server-sent events, ' +
        'ended by `response.completed`.',
      event: ResponsesEvent,
      namesEvents: true,
      examples: responsesExamples,
    },
    { request: ResponsesRequest, answer: ResponsesAnswer },
  ),
});

export const messagesRouter = t.router({
  create: formatRoute(
    'messages',
    {
      path: '/messages',
      operationId: 'createMessage',
      summary: 'Create a message',
      description:
        'Runs a text model by the messages format. The worst-case cost is held from the balance when the call ' +
        'starts, and the real cost (`usage.cost`) is charged when it ends. With `stream: true` the answer comes ' +
        'as server-sent events, ended by `message_stop`.',
      headers: [
        'x-service-call-id',
        'x-request-id',
        'request-id',
        'x-generation-id',
        'x-hold-usd',
        'x-ignored-fields',
      ],
      event: MessagesEvent,
      namesEvents: true,
      examples: messagesExamples,
    },
    { request: MessagesRequest, answer: MessagesAnswer },
  ),
});

export const modelsRouter = t.router({
  list: rawQuery(
    {
      method: 'GET',
      path: '/models',
      operationId: 'listModels',
      tag: 'Inference',
      summary: 'List the models',
      description:
        'Every model that is served, in any of the three formats, with what it is charged by. One page; an `ETag` ' +
        'spares a client that has it already. A suffix may be added to any id: `:nitro`, `:floor`, `:exacto`.',
      errors: [],
      headers: ['x-service-call-id', 'x-request-id', 'etag', 'cache-control'],
      examples: { answer: modelListExample },
    },
    ModelList,
    (call) => call.deps.listModels(call),
  ),
});
