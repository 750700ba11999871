import { renderJson } from './chat-render.ts';
import { chatEvents } from './chat-stream.ts';
import { errorBody, refusal } from './error-body.ts';
import type { SimFormat } from './sim-format.ts';

/** `POST /chat/completions`. */
export const simChat: SimFormat = {
  path: '/chat/completions',
  toChat: (body) => body,
  json: renderJson,
  events: chatEvents,
  refusal,
  errorBody,
};
