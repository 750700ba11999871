import type {
  AskedDialect,
  AskedModel,
  AssistantPart,
  Conversation,
  FunctionTool,
  ToolChoice,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { isSteps, type Steps, type Work } from '#core/steps.ts';
import { schemaInWords } from '../formats/answer-schema.ts';
import { fitCallId } from '../formats/call-id-rules.ts';
import { isOfRouter } from '../formats/call-signature.ts';
import { fitCalls } from '../formats/fit-calls.ts';
import { fitTurns } from '../formats/fit-turns.ts';
import { FlatRoom } from '../formats/flat-schema.ts';
import { plainParameters } from '../formats/open-parameters.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';
import type { NumberMarks } from '../json/number-marks.ts';
import { type ArgumentNames, NO_NAMES } from './argument-names.ts';
import { gptLimits, writeChatEffort, writeChatSampling } from './gpt-limits.ts';
import { chatCallsOf, objectSchema, refuseLoneChoice } from './tool-words.ts';
import { forEachTurn } from './turns-at-once.ts';
import { writeReasoning } from './write-reasoning.ts';

/** The body for a provider that speaks the chat format, but for what the gateway writes into every body. */
export function writeChat(
  conversation: Conversation,
  asked: AskedModel,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): Work<{ body: object; argumentNames: ArgumentNames }> {
  const { dialect } = asked;
  const { turns, tools, verbosity } = conversation;
  refuseLoneChoice(conversation, unsupported);
  if (verbosity !== null && !dialect.takesVerbosity) unsupported.leaveOut(verbosity.at);
  const messages = writeTurns(turns, dialect, unsupported);
  const write = (said: readonly object[], called: readonly object[] | undefined) => ({
    body: writeBody(conversation, asked, said, called, unsupported, marks),
    argumentNames: NO_NAMES,
  });
  const call = () => (tools.length === 0 ? undefined : writeTools(tools, dialect, unsupported));
  return tools.length === 0 && !isSteps(messages)
    ? write(messages, undefined)
    : writeInSteps(messages, call, write);
}

function* writeInSteps<T>(
  turns: Work<readonly object[]>,
  tools: () => readonly object[] | undefined,
  write: (messages: readonly object[], tools: readonly object[] | undefined) => T,
): Steps<T> {
  const messages = isSteps(turns) ? yield* turns : turns;
  yield 'turns';
  const written = tools();
  yield 'tools';
  return write(messages, written);
}

function writeBody(
  conversation: Conversation,
  { upstreamModel, outputTokensCap, dialect }: AskedModel,
  messages: readonly object[],
  written: readonly object[] | undefined,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): object {
  const { tools, toolChoice, verbosity } = conversation;
  const limits = gptLimits(upstreamModel);
  const rests = dialect.restsByThinking && conversation.reasoning?.enabled === false;
  const effort = rests ? 'none' : writeChatEffort(conversation, outputTokensCap, dialect.efforts, limits);
  return {
    messages: fitTurns(
      fitCalls([...writeSystem(conversation, dialect, marks), ...messages], TOOLS_ALONE).messages,
      dialect,
    ),
    max_tokens: outputTokensCap,
    tools: written,
    tool_choice: toolChoice === null || tools.length === 0 ? undefined : writeToolChoice(toolChoice),
    parallel_tool_calls: tools.length === 0 ? undefined : (conversation.parallelToolCalls ?? undefined),
    ...writeChatSampling(conversation, effort, limits, unsupported),
    top_k: conversation.topK ?? undefined,
    reasoning_effort: effort,
    response_format: writeFormat(conversation, dialect),
    verbosity: dialect.takesVerbosity ? verbosity?.level : undefined,
    ...writeTags(conversation, dialect),
  };
}

function writeSystem(
  { system, answerFormat }: Conversation,
  { takesSchemas }: AskedDialect,
  marks: NumberMarks,
): object[] {
  const texts = system.map(({ text }) => text);
  if (!takesSchemas && answerFormat?.type === 'json_schema')
    texts.push(schemaInWords(answerFormat.schema, answerFormat.description, marks));
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.join('\n\n') }];
}

/** They become the gateway's own tags of the agent with all others (`upstream-body.ts`). */
const writeTags = ({ tags = {} }: Conversation, { chatTags }: AskedDialect): object =>
  Object.fromEntries(chatTags.map((name) => [name, tags[name]]));

/** The format takes no images in the results of tools: those come in a message of the user, behind the last of the results. */
function writeTurns(
  turns: readonly Turn[],
  dialect: AskedDialect,
  unsupported: UnsupportedFields,
): Work<readonly object[]> {
  const messages: object[] = [];
  let images: UserPart[] = [];
  const showImages = (): void => {
    if (images.length > 0) messages.push({ role: 'user', content: writeParts(images, unsupported) });
    images = [];
  };
  const take = (turn: Turn): void => {
    if (turn.role === 'tool') {
      const seen = turn.parts.filter((part) => part.type !== 'text');
      if (seen.length > 0)
        images.push({ type: 'text', text: `From ${idAt(dialect, turn.callId)}:` }, ...seen);
    } else showImages();
    const message = writeTurn(turn, dialect, unsupported);
    if (message !== null) messages.push(message);
  };
  return forEachTurn(turns, take, () => {
    showImages();
    return messages;
  });
}

/** `null`: the turn says nothing. */
function writeTurn(turn: Turn, dialect: AskedDialect, unsupported: UnsupportedFields): object | null {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: turn.parts.map(({ text }) => text).join('\n\n') };
    case 'user':
      return { role: 'user', name: turn.name, content: writeParts(turn.parts, unsupported) };
    case 'tool': {
      const content = turn.parts.map((part) => (part.type === 'text' ? part.text : IMAGE_FOLLOWS)).join('\n');
      return {
        role: 'tool',
        tool_call_id: idAt(dialect, turn.callId),
        content: turn.failed ? saidToFail(content) : content,
      };
    }
    case 'assistant':
      return writeAnswer(turn.parts, dialect);
  }
}

/** A translated conversation has no calls in the way that chats had before tools. */
const TOOLS_ALONE = { answerMembers: null };

const IMAGE_FOLLOWS = '(The image or file follows in the next message of the user.)';

/** Some servers refuse an answer that says nothing, as a model gives it after the result of a tool. */
function writeAnswer(parts: readonly AssistantPart[], dialect: AskedDialect): object | null {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = chatCallsOf(parts, (signature) => takesBack(signature, dialect));
  const { members, contentParts } = writeReasoning(parts, dialect);
  const hasReasoning = contentParts.length > 0 || Object.keys(members).length > 0;
  if (text === '' && calls === undefined && !hasReasoning) return null;
  const content = text === '' && calls !== undefined ? null : text;
  return {
    role: 'assistant',
    content:
      contentParts.length === 0
        ? content
        : [...contentParts, ...(text === '' ? [] : [{ type: 'text', text }])],
    ...members,
    tool_calls: calls?.map((call) => ({ ...call, id: idAt(dialect, call.id) })),
  };
}

const idAt = ({ callIds }: AskedDialect, id: string): string => fitCallId(id, callIds);

/** A signature goes to the vendor that made it, and to a router that may have passed it on. */
const takesBack = (signature: string, { signsCalls, takesReasoningDetails }: AskedDialect): boolean =>
  isOfRouter(signature) ? takesReasoningDetails : signsCalls;

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

function writeTools(
  tools: readonly FunctionTool[],
  dialect: AskedDialect,
  unsupported: UnsupportedFields,
): object[] {
  const room = new FlatRoom();
  return tools.map((tool) => writeTool(tool, dialect, room, unsupported));
}

function writeTool(
  { name, description, parameters, parametersAt, strict, strictAt }: FunctionTool,
  { takesSchemaChoices }: AskedDialect,
  room: FlatRoom,
  unsupported: UnsupportedFields,
): object {
  const schema = objectSchema(parameters);
  const taken = takesSchemaChoices ? schema : plainParameters(schema, room);
  if (taken !== schema && room.isUsedUp && parametersAt !== undefined) unsupported.leaveOut(parametersAt);
  // A schema that was joined of several leaves properties out of `required`, so the model cannot be held to it.
  const isHeld = strict === true && taken === schema;
  if (strict === true && !isHeld && strictAt !== undefined) unsupported.leaveOut(strictAt);
  return {
    type: 'function',
    function: {
      name,
      description: description ?? undefined,
      parameters: taken,
      strict: strict === true && !isHeld ? undefined : (strict ?? undefined),
    },
  };
}

const writeToolChoice = (choice: ToolChoice): unknown =>
  choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.type;

function writeFormat({ answerFormat: format }: Conversation, { takesSchemas }: AskedDialect): unknown {
  if (format === null) return undefined;
  if (format.type === 'json_object' || !takesSchemas) return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  const about = description ?? undefined;
  return {
    type: 'json_schema',
    json_schema: { name, description: about, schema, strict: strict ?? undefined },
  };
}
