import type {
  AssistantPart,
  Citation,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from '#core/conversation/conversation.ts';
import { signReasoning } from '../formats/signed-reasoning.ts';
import { JsonScan } from '../json/json-scan.ts';
import { CLIENT_TOOLS, clientCallItem } from './client-tools.ts';
import { customInput } from './custom-tools.ts';
import type { ToolNames } from './tool-names.ts';
import { searchCallItem } from './tool-search.ts';
import type { WholeAnswer } from './whole-answer.ts';

/* The items of an answer in the responses format: one for each part of the answer. */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

const PREFIXES = { text: 'msg', reasoning: 'rs', tool_call: 'fc' } as const;

/** The same in all events of an answer. */
export function itemId({ id, parts }: WholeAnswer, index: number, names: ToolNames): string {
  const part = parts[index];
  return `${part === undefined ? 'item' : prefixOf(part, names)}_${id.replaceAll(/\W/g, '')}_${index}`;
}

/** OpenAI answers 400 to an item of an earlier answer whose id does not begin as its type has it. */
function prefixOf(part: AssistantPart, names: ToolNames): string {
  const tool = part.type === 'tool_call' ? names.get(part.name) : undefined;
  if (tool?.ownType === 'tool_search') return 'tsc';
  if (tool !== undefined && tool.ownType !== null) return CLIENT_TOOLS[tool.ownType].idPrefix;
  return tool?.isCustom ? 'ctc' : PREFIXES[part.type];
}

/** An item that is in progress has nothing in it yet. */
export function itemOf(part: AssistantPart, id: string, status: ItemStatus, names: ToolNames): object {
  const isBegun = status !== 'in_progress';
  switch (part.type) {
    case 'text':
      return { id, type: 'message', role: 'assistant', status, content: isBegun ? [contentOf(part)] : [] };
    case 'reasoning':
      return reasoningItem(part, id, isBegun);
    case 'tool_call':
      return callItem(part, id, status, names);
  }
}

export const contentOf = (part: TextPart): object =>
  part.isRefusal
    ? { type: 'refusal', refusal: part.text }
    : { type: 'output_text', text: part.text, annotations: annotationsOf(part), logprobs: [] };

/** The reasoning itself is its content; of a model that shows none there may be a summary. */
function reasoningItem(part: ReasoningPart, id: string, isBegun: boolean): object {
  const { text, isRaw } = part;
  const said = isBegun && text !== '';
  const kept = isBegun ? signReasoning(part) : null;
  return {
    id,
    type: 'reasoning',
    summary: said && !isRaw ? [{ type: 'summary_text', text }] : [],
    ...(said && isRaw ? { content: [{ type: 'reasoning_text', text }] } : {}),
    ...(kept === null ? {} : { encrypted_content: kept }),
  };
}

function callItem(part: ToolCallPart, id: string, status: ItemStatus, names: ToolNames): object {
  const { id: callId, argumentsJson } = part;
  const tool = names.get(part.name);
  if (tool?.ownType === 'tool_search') return searchCallItem(part, id, status);
  if (tool !== undefined && tool.ownType !== null) return clientCallItem(tool.ownType, part, id, status);
  const isBegun = status !== 'in_progress';
  const named = {
    call_id: callId,
    name: tool?.name ?? part.name,
    ...(tool === undefined || tool.namespace === null ? {} : { namespace: tool.namespace }),
  };
  return tool?.isCustom
    ? { id, type: 'custom_tool_call', ...named, input: isBegun ? customInput(argumentsJson) : '', status }
    : { id, type: 'function_call', ...named, arguments: isBegun ? argumentsOf(part, status) : '', status };
}

/** A call without arguments is called with none, unless it was cut before they came. */
export const argumentsOf = ({ argumentsJson }: ToolCallPart, status: ItemStatus): string =>
  argumentsJson === '' && status === 'completed' ? '{}' : argumentsJson;

export const annotationsOf = ({ citations = [] }: TextPart): object[] => citations.map(annotationOf);

export const annotationOf = ({ url, title, from, to }: Citation): object => ({
  type: 'url_citation',
  url,
  title,
  start_index: from,
  end_index: to,
});

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

/** Why an answer is not whole; `null`: it is. */
export const incompleteReason = ({ finishReason }: WholeAnswer): string | null =>
  INCOMPLETE[finishReason] ?? null;

/** Parts in which an answer was cut are not whole either: its last item, and each call whose arguments do not end. */
export function statusOfItem(whole: WholeAnswer, index: number): 'completed' | 'incomplete' {
  if (incompleteReason(whole) === null) return 'completed';
  const part = whole.parts[index];
  if (part?.type === 'tool_call') return isWholeJson(part.argumentsJson) ? 'completed' : 'incomplete';
  return index === whole.parts.length - 1 ? 'incomplete' : 'completed';
}

function isWholeJson(json: string): boolean {
  const scan = new JsonScan();
  scan.add(json);
  return scan.isWhole;
}
