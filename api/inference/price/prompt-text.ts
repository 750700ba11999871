import { isRecord } from '#core/is-record.ts';
import { JsonScan } from '../json/json-scan.ts';

/**
 * UTF-8 bytes of a prompt's text: what an uncounted prompt is estimated by. It counts what the model reads, and not how a format
 * writes it, so that the same conversation has the same estimate in every format: texts, earlier reasoning, calls of tools and
 * their results, and the tools and schemas of the request. Media count nothing: their size is not known here.
 */
export function promptTextBytes(body: Readonly<Record<string, unknown>>): number {
  return (
    contentBytes(body.system) +
    contentBytes(body.instructions) +
    listBytes(body.messages, messageBytes) +
    (typeof body.input === 'string' ? textBytes(body.input) : listBytes(body.input, messageBytes)) +
    listBytes(body.tools, toolBytes) +
    schemaBytes(body)
  );
}

/** A message of chat or messages, or an item of responses. */
function messageBytes(message: Record<string, unknown>): number {
  return (
    contentBytes(message.content) +
    listBytes(message.tool_calls, (call) => functionBytes(call.function)) +
    functionBytes(message.function_call) +
    textBytes(message.refusal) +
    textBytes(message.reasoning === undefined ? message.reasoning_content : message.reasoning) +
    itemBytes(message)
  );
}

function itemBytes(item: Record<string, unknown>): number {
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call':
      return textBytes(item.name) + jsonBytes(item.arguments ?? item.input);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return contentBytes(item.output);
    case 'reasoning':
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
      return textBytes(part.name) + jsonBytes(part.input);
    case 'tool_result':
    case 'search_result':
      return contentBytes(part.content);
    case 'thinking':
      return typeof part.thinking === 'string' ? textBytes(part.thinking) : contentBytes(part.thinking);
    case 'document':
      return isRecord(part.source) && part.source.type === 'text' ? textBytes(part.source.data) : 0;
    default:
      return textBytes(part.text) + textBytes(part.refusal);
  }
}

function functionBytes(called: unknown): number {
  return isRecord(called) ? textBytes(called.name) + jsonBytes(called.arguments) : 0;
}

function toolBytes(tool: Record<string, unknown>): number {
  const { name, description, parameters, input_schema } = isRecord(tool.function) ? tool.function : tool;
  return textBytes(name) + textBytes(description) + jsonBytes(parameters ?? input_schema);
}

/** The schema that an answer must follow is part of the prompt. */
function schemaBytes({ response_format, text, output_config }: Readonly<Record<string, unknown>>): number {
  const format = response_format ?? inside(text, 'format') ?? inside(output_config, 'format');
  const wrapped = inside(format, 'json_schema');
  return jsonBytes(inside(wrapped ?? format, 'schema'));
}

const inside = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

const textBytes = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0);

/** Arguments are a text in one format and a record in another. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) - new JsonScan().add(value);
  return isRecord(value) ? Buffer.byteLength(JSON.stringify(value)) : 0;
}

function listBytes(list: unknown, bytesOf: (entry: Record<string, unknown>) => number): number {
  if (!Array.isArray(list)) return 0;
  let bytes = 0;
  for (const entry of list) if (isRecord(entry)) bytes += bytesOf(entry);
  return bytes;
}
