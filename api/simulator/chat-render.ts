import type { AttoUsd } from '#core/money.ts';
import type { ChoiceAnswer, SimToolCall } from './chat-answer.ts';
import type { ChatCall } from './chat-request.ts';
import { streamError } from './error-body.ts';
import type { TokenUse } from './prices.ts';
import type { Rule } from './script-rule.ts';
import type { ToolRuns } from './server-tools.ts';
import { chatCounters, type UsageFields, usageText } from './usage-text.ts';

/** `openai`: no cost, no provider's name, no comments, and usage in a stream only when asked for. */
export type Dialect = 'openrouter' | 'openai';

export interface ChatReply {
  call: ChatCall;
  rule: Rule;
  choice: ChoiceAnswer;
  /** Of all turns. */
  use: TokenUse;
  costAtto: AttoUsd;
  lastTurn: TokenUse;
  /** What it costs with a last turn that used so much. */
  costWith(lastTurn: TokenUse): AttoUsd;
  runs: ToolRuns;
  generationId: string;
  createdAtSeconds: number;
  dialect: Dialect;
}

const CHOICE_ERROR_STATUS = 502;

/** A JSON answer. Text is put together by hand where a script may want it wrong. */
export function renderJson(reply: ChatReply): string {
  const { call } = reply;
  const one = choiceText(reply);
  const choices = Array.from({ length: call.choices }, (_, index) => `{"index":${index},${one}}`).join(',');
  const usage = usageMember(reply, chatCounters(reply.use, reply.runs));
  return `{${headText(reply, 'chat.completion')},"system_fingerprint":null,"choices":[${choices}]${usage}}`;
}

/** What every chunk and every JSON answer begins with. */
export function headText(reply: ChatReply, object: string): string {
  const { generationId, call, createdAtSeconds } = reply;
  const provider = reply.dialect === 'openai' ? '' : `"provider":"${call.endpoint.providerName}",`;
  return `"id":"${generationId}",${provider}"model":"${call.model.id}","object":"${object}","created":${createdAtSeconds}`;
}

/** The usage of a chunk, which may be earlier than the last. */
export const chunkUsage = (reply: ChatReply, use: TokenUse, costAtto: AttoUsd): string =>
  usageText(chatCounters(use, reply.runs), shownCost(reply, costAtto), reply.rule);

/** `usage` as a member of a whole answer, as often as the script wants it. */
export function usageMember(reply: ChatReply, counters: UsageFields): string {
  const { rule, costAtto } = reply;
  if (rule.usageAt === 'missing') return '';
  const usage = `,"usage":${usageText(counters, shownCost(reply, costAtto), rule)}`;
  return rule.usageAt === 'twice' ? usage + usage : usage;
}

export const shownCost = ({ dialect }: ChatReply, costAtto: AttoUsd): AttoUsd | null =>
  dialect === 'openai' ? null : costAtto;

/** Of the page that every search finds. */
export const CITATIONS = [
  {
    type: 'url_citation',
    url_citation: { url: 'https://example.com/found', title: 'Found', start_index: 0, end_index: 5 },
  },
];

function choiceText({ choice, rule, runs }: ChatReply): string {
  if (rule.error?.at === 'choice') {
    const error = JSON.stringify(streamError(rule.status ?? CHOICE_ERROR_STATUS, rule.error));
    return `"message":{"role":"assistant","content":""},"finish_reason":"error","error":${error}`;
  }
  const message = {
    role: 'assistant',
    content: choice.toolCalls.length > 0 && choice.pieces.length === 0 ? null : choice.pieces.join(''),
    refusal: null,
    ...(choice.reasoning === '' ? {} : { reasoning: choice.reasoning }),
    ...(runs.searches === 0 ? {} : { annotations: CITATIONS }),
    ...(choice.toolCalls.length === 0 ? {} : { tool_calls: choice.toolCalls.map(toolCallRow) }),
  };
  const finish = JSON.stringify(choice.finishReason);
  return `"message":${JSON.stringify(message)},"logprobs":null,"finish_reason":${finish},"native_finish_reason":${finish}`;
}

export const toolCallRow = ({ id, name, argumentsJson }: SimToolCall, index: number): unknown => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: argumentsJson },
});
