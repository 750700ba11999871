import { isRecord } from '#core/is-record.ts';
import { JsonScan } from '../json/json-scan.ts';
import { reasoningInDetails, reasoningTextOf } from './answer-part.ts';
import { broughtTools } from './prompt-bound.ts';

/**
 * UTF-8 bytes of a prompt's text: what an uncounted prompt is estimated by. It counts what the model reads, and not how a format
 * writes it, so that the same conversation has the same estimate in every format: texts, earlier reasoning, calls of tools and
 * their results, and the tools and schemas of the request, wherever they stand. Media count nothing: their size is not known
 * here. Neither do ids, signatures and reasoning that only a provider can read.
 */
export function promptTextBytes(body: Readonly<Record<string, unknown>>): number {
  let bytes =
    contentBytes(body.system) +
    contentBytes(body.instructions) +
    listBytes(body.messages, messageBytes) +
    (typeof body.input === 'string' ? textBytes(body.input) : listBytes(body.input, messageBytes)) +
    listBytes(body.tools, toolBytes) +
    listBytes(body.functions, toolBytes) +
    schemaBytes(body);
  for (const tools of broughtTools(body)) bytes += listBytes(tools, toolBytes);
  return bytes;
}

/** A message of chat or messages, or an item of responses. */
function messageBytes(message: Record<string, unknown>): number {
  return (
    speakerBytes(message) +
    contentBytes(message.content) +
    listBytes(message.tool_calls, callBytes) +
    functionBytes(message.function_call) +
    textBytes(message.refusal) +
    reasoningBytes(message) +
    itemBytes(message)
  );
}

/** The name of the one of several who speaks. The name of a result's tool stands with the call already. */
const speakerBytes = (message: Record<string, unknown>): number =>
  isSpeaker(message) ? textBytes(message.name) : 0;

const isSpeaker = ({ role }: Record<string, unknown>): boolean =>
  role === 'user' || role === 'system' || role === 'developer';

const callBytes = ({ function: called, custom }: Record<string, unknown>): number =>
  functionBytes(called) + functionBytes(custom);

/** Routers say the same reasoning twice: as a text, and in details or blocks. */
const reasoningBytes = (message: Record<string, unknown>): number =>
  isSpeaker(message)
    ? 0
    : Math.max(textBytes(reasoningInDetails(message)), textBytes(reasoningTextOf(message)));

function itemBytes(item: Record<string, unknown>): number {
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call':
    case 'tool_search_call':
      return textBytes(item.namespace) + functionBytes(item);
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'apply_patch_call_output':
    case 'local_shell_call_output':
      return contentBytes(item.output);
    case 'shell_call_output':
      return listBytes(item.output, ({ stdout, stderr }) => textBytes(stdout) + textBytes(stderr));
    case 'shell_call':
    case 'local_shell_call':
      return jsonBytes(item.action);
    case 'apply_patch_call':
      return jsonBytes(item.operation);
    case 'computer_call':
      return jsonBytes(item.action) + jsonBytes(item.actions);
    case 'reasoning':
    case 'compaction':
    case 'context_compaction':
      return contentBytes(item.summary);
    default:
      return 0;
  }
}

/** A text, or a list of parts. */
function contentBytes(content: unknown): number {
  return typeof content === 'string' ? textBytes(content) : listBytes(content, partBytes);
}

function partBytes(part: Record<string, unknown>): number {
  switch (part.type) {
    case 'tool_use':
      return functionBytes(part);
    case 'tool_result':
    case 'compaction':
      return contentBytes(part.content);
    case 'search_result':
      return textBytes(part.title) + textBytes(part.source) + contentBytes(part.content);
    case 'thinking':
      return contentBytes(part.thinking);
    // A part of a chat's earlier answer. The item of this type is no part.
    case 'reasoning':
      return contentBytes(part.summary) + textBytes(part.text);
    case 'document':
      return documentBytes(part);
    case 'tool_reference':
      return textBytes(part.tool_name);
    case 'file':
      return isRecord(part.file) ? textBytes(part.file.filename) : 0;
    case 'input_file':
      return textBytes(part.filename);
    default:
      return textBytes(part.text) + textBytes(part.refusal);
  }
}

function documentBytes({ title, context, source }: Record<string, unknown>): number {
  const said = textBytes(title) + textBytes(context);
  if (!isRecord(source)) return said;
  return said + (source.type === 'text' ? textBytes(source.data) : contentBytes(source.content));
}

/** A call's name, and what the tool is called with: JSON, or the plain text of a custom tool. */
function functionBytes(called: unknown): number {
  if (!isRecord(called)) return 0;
  const { name, arguments: json, input } = called;
  return textBytes(name) + (typeof input === 'string' ? textBytes(input) : jsonBytes(json ?? input));
}

/** A tool, or all those of a namespace. */
function toolBytes(tool: Record<string, unknown>): number {
  const said = isRecord(tool.function) ? tool.function : isRecord(tool.custom) ? tool.custom : tool;
  return (
    textBytes(said.name) +
    textBytes(said.description) +
    jsonBytes(said.parameters ?? said.input_schema) +
    grammarBytes(said.format) +
    jsonBytes(said.input_examples) +
    listBytes(said.tools, toolBytes)
  );
}

/** The grammar that the text for a custom tool must follow. One format has it in a record of its own. */
function grammarBytes(format: unknown): number {
  if (!isRecord(format)) return 0;
  const { syntax, definition } = isRecord(format.grammar) ? format.grammar : format;
  return textBytes(syntax) + textBytes(definition);
}

/** The schema that an answer must follow is part of the prompt, and so are its name and what it is for. */
function schemaBytes({
  response_format,
  text,
  output_config,
  output_format,
}: Readonly<Record<string, unknown>>): number {
  const format =
    response_format ?? inside(text, 'format') ?? inside(output_config, 'format') ?? output_format;
  const schema = inside(format, 'json_schema') ?? format;
  return (
    textBytes(inside(schema, 'name')) +
    textBytes(inside(schema, 'description')) +
    jsonBytes(inside(schema, 'schema')) +
    textBytes(inside(format, 'grammar'))
  );
}

const inside = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

const textBytes = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0);

/** Arguments are a text in one format and a record in another. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) - new JsonScan().add(value);
  return isRecord(value) || Array.isArray(value) ? Buffer.byteLength(JSON.stringify(value)) : 0;
}

function listBytes(list: unknown, bytesOf: (entry: Record<string, unknown>) => number): number {
  if (!Array.isArray(list)) return 0;
  let bytes = 0;
  for (const entry of list) if (isRecord(entry)) bytes += bytesOf(entry);
  return bytes;
}
