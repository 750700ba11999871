import { isRecord } from '#core/is-record.ts';

/*
 * Fields of the three formats that are passed on to the provider as sent. The gateway does not check them, so no schema that
 * parses a request has them. The document names them all the same: clients of some languages have no place for a field
 * without a name, and could not send the result of a tool.
 */

type Json = Record<string, unknown>;

const text = { type: ['string', 'null'] };
const flag = { type: ['boolean', 'null'] };
const listOf = (name: string) => ({ type: ['array', 'null'], items: schemaRef(name) });
const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const object = { anyOf: [schemaRef('JsonObject'), { type: 'null' }] };
const textOrParts = {
  oneOf: [{ type: 'string' }, { type: 'array', items: schemaRef('JsonObject') }, { type: 'null' }],
};

const passedFields: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  ChatMessage: {
    name: text,
    refusal: text,
    reasoning: text,
    reasoning_details: listOf('ReasoningDetail'),
    tool_calls: listOf('ToolCall'),
    tool_call_id: { ...text, description: 'Of a `tool` message: the call that this is the result of.' },
  },
  ContentPart: { input_audio: object, file: object, cache_control: object },
  InputPart: {
    refusal: text,
    image_url: text,
    detail: text,
    file_id: text,
    file_url: text,
    filename: text,
  },
  InputItem: {
    id: text,
    status: text,
    call_id: { ...text, description: 'Of a tool call or its result.' },
    name: text,
    arguments: { ...text, description: 'Of a function call: JSON, as text.' },
    output: { ...textOrParts, description: 'Of the result of a tool call.' },
    summary: listOf('JsonObject'),
    encrypted_content: text,
  },
  ContentBlock: {
    id: text,
    name: text,
    input: { ...object, description: 'Of a `tool_use` block.' },
    source: { ...object, description: 'Of an `image` or a `document` block.' },
    tool_use_id: { ...text, description: 'Of a `tool_result` block.' },
    content: { ...textOrParts, description: 'Of a `tool_result` block.' },
    is_error: flag,
    thinking: text,
    signature: text,
    data: text,
    cache_control: object,
  },
};

const JsonObject = {
  type: 'object',
  description: 'An object of the format, passed on as sent.',
  additionalProperties: true,
};

/** Adds them to the schemas of requests that the document has. Changes `schemas` in place. */
export function namePassedFields(schemas: Json): void {
  for (const [name, fields] of Object.entries(passedFields)) {
    const schema = schemas[name];
    if (!isRecord(schema)) continue;
    const properties = isRecord(schema.properties) ? schema.properties : {};
    schema.properties = { ...properties, ...structuredClone(fields) };
    schemas.JsonObject = JsonObject;
  }
}
