import type {
  AskedModel,
  Conversation,
  FunctionTool,
  Reasoning,
  ToolChoice,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { effortOf } from '../formats/reasoning-words.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';
import { chatCallsOf, objectSchema, refuseLoneChoice } from './tool-words.ts';

/** The body for a provider that speaks the chat format, but for what the gateway writes into every body. */
export function writeChat(
  conversation: Conversation,
  { outputTokensCap }: Pick<AskedModel, 'outputTokensCap'>,
  unsupported: UnsupportedFields,
): object {
  const { system, turns, tools, toolChoice, reasoning, answerFormat } = conversation;
  refuseLoneChoice(conversation, unsupported);
  return {
    messages: [
      ...(system.length === 0
        ? []
        : [{ role: 'system', content: system.map(({ text }) => text).join('\n\n') }]),
      ...turns.map((turn) => writeTurn(turn, unsupported)),
    ],
    max_tokens: outputTokensCap,
    tools: tools.length === 0 ? undefined : tools.map(writeTool),
    tool_choice: toolChoice === null || tools.length === 0 ? undefined : writeToolChoice(toolChoice),
    parallel_tool_calls: tools.length === 0 ? undefined : (conversation.parallelToolCalls ?? undefined),
    temperature: conversation.temperature ?? undefined,
    top_p: conversation.topP ?? undefined,
    top_k: conversation.topK ?? undefined,
    stop: conversation.stop.length === 0 ? undefined : conversation.stop,
    reasoning_effort: reasoning === null ? undefined : writeEffort(reasoning, outputTokensCap),
    response_format: writeFormat(answerFormat),
  };
}

/** Earlier reasoning is dropped: chat servers take none back. */
function writeTurn(turn: Turn, unsupported: UnsupportedFields): object {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: turn.parts.map(({ text }) => text).join('\n\n') };
    case 'user':
      return { role: 'user', content: writeParts(turn.parts, unsupported) };
    case 'tool': {
      const medium = turn.parts.find((part) => part.type !== 'text');
      if (medium !== undefined) unsupported.add(medium.at, 'an image or file in the result of a tool');
      const content = turn.parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return {
        role: 'tool',
        tool_call_id: turn.callId,
        content: turn.failed ? saidToFail(content) : content,
      };
    }
    case 'assistant': {
      const text = turn.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
      const calls = chatCallsOf(turn.parts);
      return {
        role: 'assistant',
        content: text === '' && calls !== undefined ? null : text,
        tool_calls: calls,
      };
    }
  }
}

/** The format has no other way to say that a tool failed than in words. */
const saidToFail = (content: string): string =>
  /^\W*error/i.test(content) ? content : `Error: ${content}`.trimEnd();

function writeParts(parts: readonly UserPart[], unsupported: UnsupportedFields): unknown {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.type === 'text') return first.text;
  return parts.map((part) => writePart(part, unsupported));
}

function writePart(part: UserPart, unsupported: UnsupportedFields): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: part.url, detail: part.detail ?? undefined } };
    case 'file':
      // The format itself takes files as inline data only.
      unsupported.add(part.at, 'a file by its link');
      return { type: 'text', text: '' };
  }
}

const writeTool = ({ name, description, parameters, strict }: FunctionTool): object => ({
  type: 'function',
  function: {
    name,
    description: description ?? undefined,
    parameters: objectSchema(parameters),
    strict: strict ?? undefined,
  },
});

const writeToolChoice = (choice: ToolChoice): unknown =>
  choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.type;

/** Some servers reject `none`, so it is sent only if the caller wrote it. */
function writeEffort(reasoning: Reasoning, outputTokensCap: number): string | undefined {
  if (!reasoning.enabled) return reasoning.effort === 'none' ? 'none' : undefined;
  return effortOf(reasoning, outputTokensCap);
}

function writeFormat(format: Conversation['answerFormat']): unknown {
  if (format === null) return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  const about = description ?? undefined;
  return {
    type: 'json_schema',
    json_schema: { name, description: about, schema, strict: strict ?? undefined },
  };
}
