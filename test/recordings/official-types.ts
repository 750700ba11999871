import type { Message, RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';

/* The types that `type-judge.ts` reads by these names. */

export type ChatAnswer = ChatCompletion;
export type ChatEvent = ChatCompletionChunk;
export type ResponsesAnswer = Response;
export type ResponsesEvent = ResponseStreamEvent;
export type MessagesAnswer = Message;
export type MessagesEvent = RawMessageStreamEvent;
