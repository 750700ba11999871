import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { nameUnsupportedPlugins } from '../../api/inference/formats/name-unsupported-plugins.ts';
import { UnsupportedFields } from '../../api/inference/formats/unsupported-fields.ts';
import { bodyKinds, objectKinds } from '../../api/inference/policy/known-members.ts';
import { toolPromptTokens } from '../../api/inference/price/prompt-bound.ts';
import { readPreferences } from '../../api/inference/routing/provider-preferences.ts';
import { readServerTools } from '../../api/inference/server-tools/read-server-tools.ts';
import { readChat } from '../../api/inference/translation/read-chat.ts';
import { readMessages } from '../../api/inference/translation/read-messages.ts';
import { readResponses } from '../../api/inference/translation/read-responses.ts';
import { noLinkRules } from '../inference/support.ts';
import { FORMATS } from './requests.ts';

const GOOD = 'https://example.com/a.png';
const schema = { type: 'object' };

const commonMembers = {
  model: 'm',
  provider: { sort: { by: 'price' }, max_price: { prompt: 1 }, only: ['a'] },
  plugins: [{ id: 'web' }, { id: 'web-fetch' }],
  reasoning: { effort: 'low' },
  thinking: { type: 'enabled', budget_tokens: 1 },
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  chat_template_kwargs: {},
  web_search_options: { user_location: { type: 'approximate', approximate: {} } },
  stop_server_tools_when: [{ type: 'step_count_is', step_count: 2 }],
};

const blocks = [
  { type: 'text', text: 'hi', citations: [] },
  { type: 'image', source: { type: 'url', url: GOOD } },
  { type: 'document', source: { type: 'url', url: GOOD }, citations: { enabled: false } },
  { type: 'document', source: { type: 'text', data: 'x' } },
  { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
  { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'x' }] },
  { type: 'search_result', source: 'x', title: 'x', content: [{ type: 'text', text: 'x' }] },
  { type: 'web_search_tool_result', content: [{ type: 'web_search_result' }] },
  { type: 'web_fetch_tool_result', content: { content: { source: { type: 'text' } } } },
  {
    type: 'tool_addition',
    tool: { type: 'tool_definition', definition: { name: 'g', input_schema: schema } },
  },
];

/** Bodies that hold each object which any reader of the format looks into. */
const bodies: Readonly<Record<FormatName, object>> = {
  chat: {
    ...commonMembers,
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'x' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'refusal', refusal: 'x' },
          { type: 'image_url', image_url: { url: GOOD } },
          { type: 'video_url', video_url: { url: GOOD }, input_video: { url: GOOD } },
          { type: 'file', file: { file_data: GOOD, file_url: GOOD } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }, { type: 'reasoning.text' }],
        annotations: [{ type: 'url_citation' }],
        images: [{ image_url: { url: GOOD } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'x' },
    ],
    functions: [{ name: 'g', description: 'x', parameters: schema }],
    function_call: { name: 'g' },
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'f', parameters: schema } },
      { type: 'namespace', tools: [{ type: 'function', function: { name: 'f' } }] },
      { type: 'openrouter:web_search', parameters: { engine: 'exa' } },
    ],
    tool_choice: { type: 'allowed_tools', function: { name: 'f' }, tools: [{ type: 'function' }] },
    prediction: { type: 'content', content: [{ type: 'text', text: 'x' }] },
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
  },
  responses: {
    ...commonMembers,
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'x' },
          { type: 'refusal', refusal: 'x' },
          { type: 'input_image', image_url: { url: GOOD } },
          { type: 'input_file', file_url: GOOD },
          { type: 'input_video', video_url: { url: GOOD } },
        ],
      },
      { role: 'user', content: 'x' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }], content: [] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
      { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] },
      { type: 'apply_patch_call', call_id: 'd', operation: { type: 'delete_file', path: 'a' } },
      { type: 'apply_patch_call_output', call_id: 'd', output: 'x', status: 'completed' },
      { type: 'shell_call', call_id: 'f', action: { commands: [] }, environment: { type: 'local' } },
      {
        type: 'shell_call_output',
        call_id: 'f',
        max_output_length: 9,
        output: [{ stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
      { type: 'computer_call', call_id: 'e', action: { type: 'wait' } },
      {
        type: 'computer_call_output',
        call_id: 'e',
        output: { type: 'computer_screenshot', image_url: GOOD },
      },
      {
        type: 'compaction',
        content: 'x',
        summary: [{ type: 'summary_text', text: 'x' }],
        encrypted_content: 'x',
      },
    ],
    tools: [
      { type: 'function', name: 'f', parameters: schema },
      { type: 'web_search', filters: {}, user_location: { type: 'approximate' } },
      { type: 'shell', environment: { type: 'local', skills: [] } },
    ],
    tool_choice: { type: 'function', name: 'f' },
    text: { format: { type: 'json_schema', name: 'a', schema } },
  },
  messages: {
    ...commonMembers,
    max_tokens: 10,
    system: blocks.filter(({ type }) => type !== 'tool_addition'),
    messages: [
      { role: 'user', content: blocks },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x', signature: 'x' },
          { type: 'redacted_thinking', data: 'x' },
          { type: 'tool_use', id: 't', name: 'f', input: { Type: 1 } },
          { type: 'server_tool_use', name: 'web_search' },
          {
            type: 'compaction',
            content: 'x',
            encrypted_content: 'x',
            tool_changes: [{ type: 'tool_addition', tool: { type: 'tool_reference', tool_name: 'f' } }],
          },
        ],
      },
      { role: 'user', content: 'x' },
    ],
    tools: [
      { name: 'f', input_schema: schema, allowed_callers: ['direct'] },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'tool', name: 'f' },
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
  },
};

/** The same value, whose objects note each name that is asked of them; lists pass on the kind of what they hold. */
function watched(value: unknown, kind: string | null, unknown: Set<string>): unknown {
  if (typeof value !== 'object' || value === null || kind === null) return value;
  if (Array.isArray(value)) return value.map((each) => watched(each, kind, unknown));
  const known = objectKinds.get(kind);
  const inside = Object.entries(value).map(([name, member]) => {
    const inner = known?.get(name);
    if (inner === undefined) unknown.add(`${kind}: ${name}`);
    return [name, watched(member, inner ?? null, unknown)];
  });
  const target: object = Object.fromEntries(inside);
  return new Proxy(target, {
    get(object, name) {
      if (typeof name === 'string' && !IGNORED.has(name) && known?.has(name) !== true) {
        unknown.add(`${kind}: ${name}`);
      }
      return Reflect.get(object, name);
    },
  });
}

/** Names that belong to every object, and are asked by `JSON.stringify` and the like. */
const IGNORED: ReadonlySet<string> = new Set(['toJSON', 'constructor', 'then']);

const translators = { chat: readChat, responses: readResponses, messages: readMessages };

describe('the table of known members', () => {
  it.each(FORMATS)('has each name that a reader of %s asks for', (name) => {
    const format = callFormats[name];
    const unknown = new Set<string>();
    const body = watched(bodies[name], bodyKinds[name], unknown) as Record<string, unknown>;
    // What is refused is not read to its end.
    expect(format.readRequest(body).ok).toBe(true);
    expect(format.countMedia(body, noLinkRules)).not.toHaveProperty('code');
    expect(format.refuseFields(body)).toBeNull();
    expect(format.refuseTools(body)).toBeNull();
    expect(readServerTools(body)).not.toHaveProperty('code');
    readPreferences(body.provider);
    toolPromptTokens(body);
    nameUnsupportedPlugins(body, UnsupportedFields.ofRequest());
    translators[name](body, UnsupportedFields.ofRequest());
    expect([...unknown]).toEqual([]);
  });

  it('names no kind of object that it does not have', () => {
    const named = [...objectKinds.values()].flatMap((known) => [...known.values()]);
    const missing = [...named, ...Object.values(bodyKinds)].filter(
      (kind) => kind !== null && !objectKinds.has(kind),
    );
    expect(missing).toEqual([]);
  });
});
