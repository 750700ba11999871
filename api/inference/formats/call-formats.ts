import type { FormatName } from '#core/catalog/catalog.ts';
import type { CallFormat } from './call-format.ts';
import { chatFormat } from './chat-format.ts';
import { messagesFormat } from './messages-format.ts';
import { responsesFormat } from './responses-format.ts';

export const callFormats: Readonly<Record<FormatName, CallFormat>> = {
  chat: chatFormat,
  responses: responsesFormat,
  messages: messagesFormat,
};
