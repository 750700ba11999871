import type { Recording } from './recording.ts';
import { anthropic } from './vendors/anthropic.ts';
import { china } from './vendors/china.ts';
import { clouds } from './vendors/clouds.ts';
import { hosts } from './vendors/hosts.ts';
import { labs } from './vendors/labs.ts';
import { openaiChat } from './vendors/openai-chat.ts';
import { openaiResponses } from './vendors/openai-responses.ts';
import { proxies } from './vendors/proxies.ts';
import { repeating } from './vendors/repeating.ts';
import { routers } from './vendors/routers.ts';
import { selfHosted } from './vendors/self-hosted.ts';

/** Every shape of an answer that the gateway is held to. */
export const corpus: readonly Recording[] = [
  ...openaiChat,
  ...openaiResponses,
  ...anthropic,
  ...clouds,
  ...labs,
  ...hosts,
  ...china,
  ...selfHosted,
  ...routers,
  ...proxies,
  ...repeating,
];
