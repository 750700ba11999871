import { describe, expect, it } from 'vitest';
import type { FormatName, Provider } from '#core/catalog/catalog.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { model, noLinkRules, provider, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';
import { FORMATS } from './requests.ts';

const GOOD = 'https://example.com/a.png';
const BAD = 'http://169.254.169.254/latest';

function admitText(format: FormatName, text: string, given: Partial<Provider> = {}) {
  const inputModalities = ['text', 'image', 'file'];
  return admitCall(callFormats[format], Buffer.from(text), 'active', {
    catalog: testCatalog({ models: [model({ inputModalities })], providers: [provider(given)] }),
    health: plainHealth(),
    links: noLinkRules,
  });
}

/** A whole body of these members, which may take the place of the ones that a body has anyway. */
function bodyOf(format: FormatName, members: object): object {
  const list = format === 'responses' ? 'input' : 'messages';
  return { model: 'acme/small', [list]: [{ role: 'user', content: 'hi' }], ...members };
}

const admitBody = (format: FormatName, members: object, given: Partial<Provider> = {}) =>
  admitText(format, JSON.stringify(bodyOf(format, members)), given);

function refusalOf(format: FormatName, members: object, given: Partial<Provider> = {}) {
  const admitted = admitBody(format, members, given);
  if (admitted.ok) throw new Error(`admitted: ${JSON.stringify(members)}`);
  return admitted.error;
}

const said = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const put = (...content: object[]) => ({ input: [{ role: 'user', content }] });
const tool = { type: 'function', function: { name: 'f', parameters: {} } };
const flatTool = { type: 'function', name: 'f', parameters: {} };
const ownTool = { name: 'f', input_schema: {} };

const spellings: readonly [format: FormatName, members: object, param: string, sent: string][] = [
  [
    'chat',
    said({ type: 'image_url', image_url: { url: GOOD, URL: BAD } }),
    'messages[0].content[0].image_url.url',
    'URL',
  ],
  [
    'chat',
    said({ type: 'image_url', image_url: { url: GOOD }, Image_URL: { url: BAD } }),
    'messages[0].content[0].image_url',
    'Image_URL',
  ],
  ['chat', said({ type: 'text', Type: 'image_url', text: 'hi' }), 'messages[0].content[0].type', 'Type'],
  [
    'chat',
    said({ type: 'file', file: { file_data: GOOD, File_data: BAD } }),
    'messages[0].content[0].file.file_data',
    'File_data',
  ],
  [
    'chat',
    said({ type: 'file', file: { file_data: GOOD, FILE_ID: 'x' } }),
    'messages[0].content[0].file.file_id',
    'FILE_ID',
  ],
  ['chat', { messages: [{ role: 'user', content: 'hi', Content: 'ho' }] }, 'messages[0].content', 'Content'],
  ['chat', { messages: [{ role: 'user', Role: 'system', content: 'hi' }] }, 'messages[0].role', 'Role'],
  [
    'chat',
    { messages: [{ role: 'assistant', content: 'hi', images: [{ image_url: { url: GOOD, Url: BAD } }] }] },
    'messages[0].images[0].image_url.url',
    'Url',
  ],
  [
    'chat',
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', Type: 'x', function: { name: 'f' } }] }] },
    'messages[0].tool_calls[0].type',
    'Type',
  ],
  ['chat', { tools: [{ ...tool, Type: 'web_search' }] }, 'tools[0].type', 'Type'],
  [
    'chat',
    { tools: [{ type: 'function', function: { name: 'f', Name: 'g' } }] },
    'tools[0].function.name',
    'Name',
  ],
  [
    'chat',
    { tools: [tool], tool_choice: { type: 'function', function: { name: 'f' }, Type: 'x' } },
    'tool_choice.type',
    'Type',
  ],
  [
    'chat',
    { stream: true, stream_options: { Include_Usage: false } },
    'stream_options.include_usage',
    'Include_Usage',
  ],
  ['chat', { provider: { Max_price: { prompt: 1 } } }, 'provider.max_price', 'Max_price'],
  ['chat', { provider: { max_price: { Prompt: 9 } } }, 'provider.max_price.prompt', 'Prompt'],
  ['chat', { provider: { Options: {} } }, 'provider.options', 'Options'],
  ['chat', { reasoning: { Max_tokens: 1e9 } }, 'reasoning.max_tokens', 'Max_tokens'],
  ['chat', { thinking: { type: 'enabled', Budget_tokens: 9 } }, 'thinking.budget_tokens', 'Budget_tokens'],
  ['chat', { response_format: { type: 'text', TYPE: 'x' } }, 'response_format.type', 'TYPE'],
  [
    'chat',
    { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, Schema: {} } } },
    'response_format.json_schema.schema',
    'Schema',
  ],
  ['chat', { Response_format: { type: 'text' } }, 'response_format', 'Response_format'],
  ['chat', { plugins: [{ id: 'web', Id: 'pareto-router' }] }, 'plugins[0].id', 'Id'],
  ['chat', { prediction: { type: 'content', Content: 'x' } }, 'prediction.content', 'Content'],
  [
    'chat',
    { web_search_options: { user_location: { Approximate: {} } } },
    'web_search_options.user_location.approximate',
    'Approximate',
  ],
  [
    'responses',
    put({ type: 'input_image', image_url: GOOD, Image_url: BAD }),
    'input[0].content[0].image_url',
    'Image_url',
  ],
  [
    'responses',
    put({ type: 'input_file', file_url: GOOD, FILE_URL: BAD }),
    'input[0].content[0].file_url',
    'FILE_URL',
  ],
  [
    'responses',
    { input: [{ type: 'message', Type: 'item_reference', role: 'user', content: 'hi' }] },
    'input[0].type',
    'Type',
  ],
  [
    'responses',
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [{ type: 'input_image', image_url: GOOD, Image_URL: BAD }],
        },
      ],
    },
    'input[0].output[0].image_url',
    'Image_URL',
  ],
  [
    'responses',
    { input: [{ type: 'additional_tools', tools: [{ ...flatTool, Type: 'mcp' }] }] },
    'input[0].tools[0].type',
    'Type',
  ],
  ['responses', { tools: [{ ...flatTool, Name: 'g' }] }, 'tools[0].name', 'Name'],
  [
    'responses',
    { tools: [{ type: 'namespace', name: 'n', tools: [{ ...flatTool, Type: 'mcp' }] }] },
    'tools[0].tools[0].type',
    'Type',
  ],
  ['responses', { text: { format: { type: 'text', Type: 'x' } } }, 'text.format.type', 'Type'],
  ['responses', { reasoning: { effort: 'low', Effort: 'high' } }, 'reasoning.effort', 'Effort'],
  [
    'messages',
    said({ type: 'image', source: { type: 'url', url: GOOD, Url: BAD } }),
    'messages[0].content[0].source.url',
    'Url',
  ],
  [
    'messages',
    said({ type: 'image', source: { type: 'url', url: GOOD }, Source: { type: 'url', url: BAD } }),
    'messages[0].content[0].source',
    'Source',
  ],
  ['messages', { system: [{ type: 'text', text: 'hi', Type: 'image' }] }, 'system[0].type', 'Type'],
  [
    'messages',
    said({
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'image', source: { type: 'url', url: GOOD, URL: BAD } }],
    }),
    'messages[0].content[0].content[0].source.url',
    'URL',
  ],
  [
    'messages',
    said({
      type: 'document',
      source: { type: 'content', content: [{ type: 'text', text: 'hi', Type: 'image' }] },
    }),
    'messages[0].content[0].source.content[0].type',
    'Type',
  ],
  ['messages', { tools: [{ ...ownTool, TYPE: 'bash_20250124' }] }, 'tools[0].type', 'TYPE'],
  ['messages', { tools: [ownTool], tool_choice: { type: 'auto', Type: 'any' } }, 'tool_choice.type', 'Type'],
  [
    'messages',
    { thinking: { type: 'enabled', Budget_Tokens: 9 } },
    'thinking.budget_tokens',
    'Budget_Tokens',
  ],
  ['messages', { output_config: { Effort: 'max' } }, 'output_config.effort', 'Effort'],
  [
    'messages',
    { context_management: { edits: [{ type: 'clear_tool_uses_20250919', Type: 'compact' }] } },
    'context_management.edits[0].type',
    'Type',
  ],
  [
    'chat',
    { tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'text', Type: 'grammar' } } }] },
    'tools[0].custom.format.type',
    'Type',
  ],
  [
    'chat',
    {
      tools: [
        { type: 'custom', custom: { name: 'f', format: { type: 'grammar', grammar: { Syntax: 'lark' } } } },
      ],
    },
    'tools[0].custom.format.grammar.syntax',
    'Syntax',
  ],
  ['chat', { cache_control: { type: 'ephemeral', TTL: '1h' } }, 'cache_control.ttl', 'TTL'],
  [
    'chat',
    said({ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', Type: 'x' } }),
    'messages[0].content[0].cache_control.type',
    'Type',
  ],
  [
    'responses',
    { tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', Definition: 'x' } }] },
    'tools[0].format.definition',
    'Definition',
  ],
  [
    'responses',
    { input: [{ type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', Path: 'a' } }] },
    'input[0].operation.path',
    'Path',
  ],
  [
    'responses',
    { input: [{ type: 'shell_call', call_id: 'c', action: { commands: ['ls'], Commands: ['rm'] } }] },
    'input[0].action.commands',
    'Commands',
  ],
  [
    'responses',
    { input: [{ type: 'computer_call', call_id: 'c', actions: [{ type: 'wait', Type: 'click' }] }] },
    'input[0].actions[0].type',
    'Type',
  ],
  [
    'messages',
    { tools: [{ ...ownTool, cache_control: { type: 'ephemeral', TTL: '1h' } }] },
    'tools[0].cache_control.ttl',
    'TTL',
  ],
];

describe('a member in other letters than a known one', () => {
  it.each(spellings)('is refused in %s: %j', (format, members, param, sent) => {
    expect(refusalOf(format, members)).toMatchObject({ code: 'invalid_request', param });
    const known = param.slice(param.lastIndexOf('.') + 1);
    expect(refusalOf(format, members).message).toContain(
      `Write \`${known}\` in small letters, not as \`${sent}\``,
    );
  });

  it.each([
    ['the long s', '"uſer":"a"', 'user'],
    [
      'the Kelvin sign',
      '"provider":{"to\u212aens":1,"allow_fallbac\u212as":false}',
      'provider.allow_fallbacks',
    ],
    ['the long s in a nested name', '"reasoning":{"max_token\u017f":1}', 'reasoning.max_tokens'],
  ])('is refused where a server folds %s', (_what, member, param) => {
    const text = JSON.stringify(bodyOf('chat', {}));
    const admitted = admitText('chat', `${text.slice(0, -1)},${member}}`);
    if (admitted.ok) throw new Error('admitted');
    expect(admitted.error).toMatchObject({ code: 'invalid_request', param });
  });

  it.each([
    ['`url` in capitals and escapes', String.raw`{"url":"${GOOD}","\u0055RL":"${BAD}"}`],
    ['`url` in escapes', String.raw`{"\u0075rl":"${BAD}"}`],
    ['`url` twice, with other escapes', String.raw`{"\u0075rl":"${GOOD}","u\u0072l":"${BAD}"}`],
    ['`url` twice', `{"url":"${GOOD}","url":"${BAD}"}`],
    ['a detail with the long s in escapes', String.raw`{"url":"${GOOD}","\u017fource":"x"}`],
  ])('is refused when a link has %s', (_what, link) => {
    const text = JSON.stringify(bodyOf('chat', said({ type: 'image_url', image_url: 'HERE' })));
    const admitted = admitText('chat', text.replace('"HERE"', link));
    if (admitted.ok) throw new Error('admitted');
    expect(admitted.error.code).toBe('invalid_request');
  });
});

const schema = {
  type: 'object',
  properties: { Type: { type: 'string' }, type: {}, Name: {}, URL: {}, Url: {}, Content: {}, ſource: {} },
  required: ['Type'],
  Required: ['x'],
};

describe('the data of the caller is free', () => {
  it.each<[string, FormatName, object]>([
    [
      'the schema of a chat tool',
      'chat',
      { tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] },
    ],
    ['the schema of a responses tool', 'responses', { tools: [{ ...flatTool, parameters: schema }] }],
    ['the schema of a messages tool', 'messages', { tools: [{ name: 'f', input_schema: schema }] }],
    [
      'the schema of an answer',
      'chat',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
    ],
    [
      'the schema of a responses answer',
      'responses',
      { text: { format: { type: 'json_schema', name: 'a', schema } } },
    ],
    [
      'the schema of a messages answer',
      'messages',
      { output_config: { format: { type: 'json_schema', schema } } },
    ],
    [
      'the input of a tool',
      'messages',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: schema }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
        ],
      },
    ],
    [
      'the arguments of a tool',
      'chat',
      {
        messages: [
          { role: 'user', content: 'hi' },
          {
            role: 'assistant',
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(schema) } },
            ],
          },
          { role: 'tool', tool_call_id: 'c', content: 'x' },
        ],
      },
    ],
    [
      'the variables of a shell',
      'responses',
      {
        input: [
          {
            type: 'local_shell_call',
            call_id: 'c',
            action: { type: 'exec', command: ['ls'], env: { PATH: 'a', Path: 'b' } },
          },
          { type: 'local_shell_call_output', call_id: 'c', output: 'x' },
        ],
      },
    ],
    ['metadata', 'chat', { metadata: { Type: 'a', type: 'b', User_id: 'c' } }],
    ['metadata of responses', 'responses', { metadata: { Model: 'a', model: 'b' } }],
    ['a field that nobody knows', 'chat', { my_extras: { Type: 'a', type: 'b' } }],
    ['members that nobody knows', 'chat', said({ type: 'text', text: 'hi', Extra: 1, extra: 2 })],
  ])('%s', (_what, format, members) => {
    const admitted = admitBody(format, members);
    expect(admitted.ok ? null : admitted.error).toBeNull();
  });
});

const careful = { kind: providerKinds.openai, dialect: dialects.vllm } as const;
const cat = { type: 'image_url', image_url: { url: GOOD } };

describe('a link in a member that no format knows does not reach a server of the operator’s own', () => {
  it.each<[string, FormatName, object, string]>([
    [
      'in a part of text',
      'chat',
      said({ type: 'text', text: 'hi', image_url: { url: BAD } }),
      'messages[0].content[0].image_url',
    ],
    [
      'beside `url`',
      'chat',
      said({ ...cat, image_url: { url: GOOD, uri: BAD } }),
      'messages[0].content[0].image_url.uri',
    ],
    ['of sound', 'chat', said({ ...cat, audio_url: { url: BAD } }), 'messages[0].content[0].audio_url'],
    ['of a film', 'chat', said({ ...cat, video_url: { url: BAD } }), 'messages[0].content[0].video_url'],
    [
      'of sound by its data',
      'chat',
      said({ ...cat, input_audio: { url: BAD } }),
      'messages[0].content[0].input_audio',
    ],
    ['of a file', 'chat', said({ ...cat, file: { url: BAD } }), 'messages[0].content[0].file'],
    [
      'in attachments',
      'chat',
      { messages: [{ role: 'user', content: 'hi', attachments: [{ url: BAD }] }] },
      'messages[0].attachments',
    ],
    ['in files', 'chat', { messages: [{ role: 'user', content: 'hi', files: [BAD] }] }, 'messages[0].files'],
    [
      'deep inside',
      'chat',
      { messages: [{ role: 'user', content: 'hi', x: [{ y: { z: [BAD] } }] }] },
      'messages[0].x',
    ],
    [
      'that begins with blanks',
      'chat',
      said({ type: 'text', text: 'hi', x: ' \n file:etc' }),
      'messages[0].content[0].x',
    ],
    [
      'with a line end in its scheme',
      'chat',
      said({ type: 'text', text: 'hi', x: 'da\nta:image/png;base64,AAAA' }),
      'messages[0].content[0].x',
    ],
    [
      'without a scheme',
      'chat',
      said({ type: 'text', text: 'hi', x: '//169.254.169.254/' }),
      'messages[0].content[0].x',
    ],
    [
      'to a file of the machine',
      'chat',
      said({ type: 'text', text: 'hi', x: '/etc/secret.PNG' }),
      'messages[0].content[0].x',
    ],
    [
      'to a file below where the server runs, with a blank in its name',
      'chat',
      said({ type: 'text', text: 'hi', x: 'uploads/my cat.png' }),
      'messages[0].content[0].x',
    ],
    [
      'in a responses part',
      'responses',
      put({ type: 'input_text', text: 'hi', image_url: BAD }),
      'input[0].content[0].image_url',
    ],
    [
      'in a responses item',
      'responses',
      { input: [{ role: 'user', content: 'hi', files: [BAD] }] },
      'input[0].files',
    ],
    [
      'in a messages block',
      'messages',
      said({ type: 'text', text: 'hi', source: { type: 'url', url: BAD } }),
      'messages[0].content[0].source',
    ],
    [
      'beside the `url` of a source',
      'messages',
      said({ type: 'image', source: { type: 'url', url: GOOD, uri: BAD } }),
      'messages[0].content[0].source.uri',
    ],
    [
      'in a block of the system prompt',
      'messages',
      { system: [{ type: 'text', text: 'hi', url: BAD }] },
      'system[0].url',
    ],
  ])('%s', (_what, format, members, param) => {
    const given = { ...careful, formats: FORMATS };
    expect(refusalOf(format, members, given)).toMatchObject({ code: 'invalid_request', param });
    expect(refusalOf(format, members, given).message).toContain('leave it out');
  });

  it.each<[string, FormatName, object]>([
    ['an image', 'chat', said(cat, { type: 'text', text: `See ${BAD}` })],
    ['an image of responses', 'responses', put({ type: 'input_image', image_url: GOOD })],
    ['an image of messages', 'messages', said({ type: 'image', source: { type: 'url', url: GOOD } })],
    [
      'members without a link',
      'chat',
      { messages: [{ role: 'user', content: 'hi', id: 'msg_1', note: 'Well: so.' }] },
    ],
    ...[
      `I looked at ${BAD} first`,
      `${BAD} was of no use, so I tried cat.png`,
      'Then I opened the image cat.png',
    ].flatMap((words): [string, FormatName, object][] => [
      [
        `thinking that names an address: ${words}`,
        'chat',
        { messages: [{ role: 'user', content: 'hi', thinking: words }] },
      ],
      [
        `a reasoning_text: ${words}`,
        'responses',
        {
          input: [
            { type: 'reasoning', id: 'rs_1', summary: [], reasoning_text: words },
            { role: 'user', content: 'hi' },
          ],
        },
      ],
      [
        `metadata: ${words}`,
        'chat',
        { messages: [{ role: 'user', content: 'hi', metadata: { note: words } }] },
      ],
      [
        `a note of nobody's: ${words}`,
        'chat',
        { messages: [{ role: 'user', content: 'hi', note: `Note: ${words}` }] },
      ],
      [
        `thinking blocks: ${words}`,
        'chat',
        {
          messages: [
            {
              role: 'assistant',
              content: 'x',
              thinking_blocks: [{ type: 'thinking', thinking: words, signature: 'a' }],
            },
            { role: 'user', content: 'hi' },
          ],
        },
      ],
    ]),
    ['base64', 'chat', { messages: [{ role: 'user', content: 'hi', signature: '//abc+/==' }] }],
    [
      'what an earlier answer rests on',
      'chat',
      {
        messages: [
          {
            role: 'assistant',
            content: 'x',
            annotations: [{ type: 'url_citation', url_citation: { url: GOOD } }],
          },
          { role: 'user', content: 'hi' },
        ],
      },
    ],
    [
      'a link in the schema of a tool',
      'chat',
      { tools: [{ ...tool, function: { name: 'f', parameters: { $ref: GOOD } } }] },
    ],
  ])('but %s does', (_what, format, members) => {
    const admitted = admitBody(format, members, { ...careful, formats: FORMATS });
    expect(admitted.ok ? null : admitted.error).toBeNull();
  });

  it('and reaches a vendor, which is outside', () => {
    const members = { messages: [{ role: 'user', content: 'hi', attachments: [{ url: GOOD }] }] };
    expect(admitBody('chat', members, { kind: providerKinds.openai }).ok).toBe(true);
  });
});

describe('what is foreseen of an answer (`prediction.content`)', () => {
  it.each<[string, object]>([
    ['an image', cat],
    ['a file', { type: 'file', file: { file_data: BAD } }],
    ['sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ['text with an image beside it', { type: 'text', text: 'hi', image_url: { url: BAD } }],
    ['a part without a type', { image_url: { url: BAD } }],
  ])('is text alone, whoever serves it: not %s', (_what, part) => {
    const prediction = { type: 'content', content: [{ type: 'text', text: 'a' }, part] };
    for (const given of [{}, careful, { kind: providerKinds.openai }])
      expect(refusalOf('chat', { prediction }, given)).toMatchObject({
        code: 'invalid_request',
        param: 'prediction.content[1]',
      });
  });

  it.each([`See ${BAD}`, [{ type: 'text', text: `See ${BAD}` }], [], null])(
    'passes as text: %j',
    (content) => {
      const prediction = { type: 'content', content };
      expect(admitBody('chat', { prediction }, { kind: providerKinds.openai }).ok).toBe(true);
    },
  );
});
