import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { memberText } from '../../api/inference/json/json-object.ts';
import { fieldRules } from '../../api/inference/policy/field-rules.ts';
import { bodyWith, noLinkRules, planOf, refusalOf } from './support.ts';

const refusal = (body: string) => {
  const { code, param } = refusalOf(body);
  return `${code} ${param}`;
};
const isAdmitted = (body: string) => {
  planOf(body);
  return true;
};

describe('fields that reach shared state, escape the price or steer a server', () => {
  const refused = [...fieldRules].filter(([, { rule }]) => rule === 'refuse').map(([field]) => field);

  it('are the ones of the policy table', () => {
    for (const field of [
      ...['previous_response_id', 'prompt', 'conversation', 'background', 'deferred', 'store', 'preset'],
      ...[
        'container',
        'vector_store_ids',
        'mcp_servers',
        'debug',
        'service_tier',
        'speed',
        'modalities',
        'audio',
      ],
      ...['x_search_filter', 'best_of', 'priority', 'cache_salt'],
      ...['chat_template', 'kv_transfer_params', 'request_id', 'rid', 'lora_path', 'session_params'],
      ...[
        'custom_logit_processor',
        'bootstrap_host',
        'return_hidden_states',
        'logits_processors',
        'extra_body',
      ],
    ]) {
      expect(refused).toContain(field);
    }
  });

  it.each(refused)('%s is refused by name, whatever it holds', (field) => {
    for (const value of ['true', '2', '"x"', '{"tokenize":1}', '["x"]']) {
      const { code, param, message } = refusalOf(bodyWith(`"${field}":${value}`));
      expect(['invalid_request', 'tool_not_served']).toContain(code);
      expect(param).toBe(field);
      expect(message).toContain(`\`${field}\``);
    }
  });

  it.each([
    ['previous_response_id', '"resp_1"', '`store: false`', 'whole conversation'],
    ['conversation', '{"id":"conv_1"}', '`store: false`', 'whole conversation'],
    ['store', 'true', '`store: false`', 'whole conversation'],
    ['background', 'true', '`false`', 'stream'],
    ['deferred', 'true', '`false`', 'stream'],
    ['prompt', '{"id":"pmpt_1"}', 'not stored', 'Send the text'],
    ['preset', '"mine"', 'not stored', 'Send the settings'],
  ])('%s of %s is refused in words that say what to send', (field, value, ...words) => {
    const { message } = refusalOf(bodyWith(`"${field}":${value}`));
    for (const each of words) expect(message).toContain(each);
  });

  it.each(refused)('%s of null counts as absent', (field) => {
    expect(isAdmitted(bodyWith(`"${field}":null`))).toBe(true);
  });

  it.each([
    ['background', 'false'],
    ['deferred', 'false'],
    ['store', 'false'],
    ['service_tier', '"auto"'],
    ['service_tier', '"default"'],
    ['service_tier', '"flex"'],
    ['speed', '"standard"'],
    ['modalities', '["text"]'],
    ['best_of', '1'],
    ['use_beam_search', 'false'],
    ['enable_search', 'false'],
    ['chat_template_kwargs', '{"enable_thinking":false}'],
  ])('%s of %s changes nothing and passes', (field, value) => {
    const { body } = planOf(bodyWith(`"${field}":${value}`));
    expect(memberText(body, field)).toBe(value);
  });

  it.each([
    ['service_tier', '"priority"', 'invalid_request'],
    ['service_tier', '"fast"', 'invalid_request'],
    ['service_tier', '"Priority"', 'invalid_request'],
    ['service_tier', '["auto"]', 'invalid_request'],
    ['modalities', '["text","audio"]', 'invalid_request'],
    ['modalities', '"text"', 'invalid_request'],
    ['store', '0', 'invalid_request'],
    ['best_of', '"1"', 'invalid_request'],
    ['chat_template_kwargs', '{"chat_template":"{{x}}"}', 'invalid_request'],
    ['chat_template_kwargs', '{"tokenize":true}', 'invalid_request'],
    ['enable_search', 'true', 'tool_not_served'],
    ['search_parameters', '{"mode":"on"}', 'tool_not_served'],
    ['mcp_servers', '[]', 'tool_not_served'],
  ])('%s of %s does not', (field, value, code) => {
    expect(refusal(bodyWith(`"${field}":${value}`))).toBe(`${code} ${field}`);
  });

  it('the way out of the price list is shut', () => {
    expect(refusal(bodyWith('"provider":{"options":{"acme":{"a":1}}}'))).toBe(
      'invalid_request provider.options',
    );
    expect(isAdmitted(bodyWith('"provider":{"options":null,"order":["acme"]}'))).toBe(true);
  });

  it.each(['openai/priority', 'anthropic/fast', 'OpenAI/Priority', 'x/scale'])(
    'so is the way into a dearer tier: %s',
    (tag) => {
      for (const key of ['order', 'only']) {
        expect(refusal(bodyWith(`"provider":{"${key}":["acme",${JSON.stringify(tag)}]}`))).toBe(
          `invalid_request provider.${key}`,
        );
      }
      expect(isAdmitted(bodyWith(`"provider":{"ignore":[${JSON.stringify(tag)}]}`))).toBe(true);
      expect(isAdmitted(bodyWith('"provider":{"order":["openai/flex","fast","google-vertex/global"]}'))).toBe(
        true,
      );
    },
  );

  it('every other field passes', () => {
    const field = fc.stringMatching(/^[a-z_]{3,12}$/).filter((name) => !fieldRules.has(name));
    fc.assert(
      fc.property(field, (name) => {
        const { body } = planOf(`{"x_${name}": 1.0 ,${bodyWith().slice(1)}`);
        expect(memberText(body, `x_${name}`)).toBe('1.0');
      }),
      { numRuns: 200 },
    );
  });
});

describe('tools', () => {
  const served = [
    '{"type":"function","function":{"name":"f"}}',
    '{"type":"custom","custom":{"name":"f"}}',
    '{"type":"namespace","name":"n","tools":[{"type":"function","function":{"name":"f"}}]}',
  ];
  it.each(served)('of the caller are served: %s', (tool) => {
    expect(isAdmitted(bodyWith(`"tools":[${tool}]`))).toBe(true);
  });

  const hosted = [
    ...['openrouter:image_generation', 'image_generation', 'openrouter:web_search_2', 'web_search_20990101'],
    ...['web_fetch_20990101', 'openrouter:fusion', 'openrouter:advisor', 'advisor_20260301'],
    ...[
      'openrouter:subagent',
      'openrouter:bash',
      'openrouter:shell',
      'shell',
      'local_shell',
      'code_interpreter',
    ],
    ...['code_execution_20250825', 'openrouter:browser_use', 'programmatic_tool_calling', 'openrouter:files'],
    ...[
      'file_search',
      'openrouter:memory',
      'memory_20250818',
      'x_search',
      'mcp',
      'mcp_toolset',
      'openrouter:mcp',
    ],
    ...[
      'openrouter:experimental__search_models',
      'computer_use_preview',
      'apply_patch',
      'tool_search',
      'browser_search',
    ],
    ...[
      'builtin_function',
      'Function',
      'function ',
      '',
      'FUNCTION',
      '__proto__',
      'constructor',
      'a tool of tomorrow',
    ],
  ];
  it.each(hosted)('of others are not: %j', (type) => {
    const tool = JSON.stringify({ type, function: { name: 'f' } });
    expect(refusal(bodyWith(`"tools":[${tool}]`))).toBe('tool_not_served tools[0]');
    expect(refusal(bodyWith(`"tools":[${served[0]},${tool}]`))).toBe('tool_not_served tools[1]');
  });

  it.each<[string, string, string]>([
    ['a namespace', '"tools":[{"type":"namespace","tools":[{"type":"mcp"}]}]', 'tools[0].tools[0]'],
    [
      'a namespace in a namespace',
      '"tools":[{"type":"namespace","tools":[{"type":"namespace","tools":[{"type":"mcp"}]}]}]',
      'tools[0].tools[0].tools[0]',
    ],
    ['tool_choice', '"tool_choice":{"type":"web_search"}', 'tool_choice'],
    [
      'allowed tools',
      '"tool_choice":{"type":"allowed_tools","tools":[{"type":"mcp"}]}',
      'tool_choice.tools[0]',
    ],
    [
      'allowed tools, the other way',
      '"tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[{"type":"mcp"}]},"tools":[]}',
      'tool_choice.allowed_tools.tools[0]',
    ],
    [
      'allowed tools, both ways',
      '"tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[]},"tools":[{"type":"mcp"}]}',
      'tool_choice.tools[0]',
    ],
    ['a plugin that reads files', '"plugins":[{"id":"file-parser"}]', 'plugins[0]'],
    ['a plugin of many models', '"plugins":[{"id":"fusion"}]', 'plugins[0]'],
    ['a plugin that is switched on', '"plugins":[{"id":"fusion","enabled":true}]', 'plugins[0]'],
    ['a plugin that is nearly switched off', '"plugins":[{"id":"fusion","enabled":0}]', 'plugins[0]'],
    [
      'a search in a namespace',
      '"tools":[{"type":"namespace","tools":[{"type":"web_search"}]}]',
      'tools[0].tools[0]',
    ],
    ['a plugin behind a good one', '"plugins":[{"id":"response-healing"},{"id":"moderation"}]', 'plugins[1]'],
  ])('find no other door: %s', (_what, member, param) => {
    expect(refusal(bodyWith(member))).toBe(`tool_not_served ${param}`);
  });

  it('routers that pick the model after the call are refused as plugins too', () => {
    for (const id of ['auto-router', 'auto-beta-router', 'pareto-router']) {
      expect(refusal(bodyWith(`"plugins":[{"id":"${id}"}]`))).toBe('model_not_served plugins[0]');
    }
  });

  it.each([
    '"tools":[]',
    '"tools":null',
    '"plugins":[]',
    '"plugins":null',
    '"plugins":[{"id":"web","enabled":false}]',
    '"plugins":[{"id":"response-healing"},{"id":"context-compression"}]',
    '"tool_choice":"auto"',
    '"tool_choice":"none"',
    '"tool_choice":"required"',
    '"tool_choice":{"type":"function","function":{"name":"f"}}',
    '"tool_choice":{"type":"custom","custom":{"name":"f"}}',
    '"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function"}]}}',
  ])('what brings none in passes: %s', (member) => {
    expect(isAdmitted(bodyWith(member))).toBe(true);
  });

  it('the refusal names the tool, but no novel that stands in its place', () => {
    const { message } = refusalOf(bodyWith(`"tools":[{"type":"${'x'.repeat(10_000)}"}]`));
    expect(message.length).toBeLessThan(300);
  });
});

describe('what messages may hold', () => {
  const withParts = (...parts: string[]) =>
    `{"model":"acme/small","messages":[{"role":"user","content":[${parts.join(',')}]}]}`;
  const image = (url: string) => `{"type":"image_url","image_url":{"url":${JSON.stringify(url)}}}`;

  it.each([
    'https://example.com/a.png',
    'HTTPS://Example.COM/a.png?x=1#y',
    'https://example.com:443/a.png',
    'https://bücher.example/ä.png',
    'https://a.b.c.example.com./a.png',
    'https://example.com',
  ])('a public link: %s', (url) => {
    expect(isAdmitted(withParts(image(url)))).toBe(true);
  });

  it.each([
    ['plain http', 'http://example.com/a.png'],
    ['another scheme', 'ftp://example.com/a.png'],
    ['a file', 'file:///etc/passwd'],
    ['no scheme', '//example.com/a.png'],
    ['no link', 'a.png'],
    ['nothing', ''],
    ['a port', 'https://example.com:8443/a.png'],
    ['a name and a password', 'https://me:secret@example.com/a.png'],
    ['a name', 'https://me@example.com/a.png'],
    ['this machine', 'https://localhost/a.png'],
    ['this machine, dotted', 'https://localhost./a.png'],
    ['this machine, dotted twice', 'https://a.localhost../a.png'],
    ['this machine by number', 'https://127.0.0.1/a.png'],
    ['a number in one piece', 'https://2130706433/a.png'],
    ['a hexadecimal number', 'https://0x7f.1/a.png'],
    ['an octal number', 'https://0177.0.0.1/a.png'],
    ['wide digits', 'https://１２７.０.０.１/a.png'],
    ['IPv6', 'https://[::1]/a.png'],
    ['IPv4 in IPv6', 'https://[::ffff:10.0.0.1]/a.png'],
    ['the cloud', 'https://169.254.169.254/latest/meta-data'],
    ['the cloud by name', 'https://metadata.google.internal/'],
    ['a cluster', 'https://redis.default.svc/a.png'],
    ['a cluster in full', 'https://redis.default.svc.cluster.local/a.png'],
    ['an office', 'https://wiki.corp/a.png'],
    ['a bare name', 'https://vllm/a.png'],
    ['a backslash that some take for a slash', 'https://example.com\\@127.0.0.1/a.png'],
    ['one slash too few', 'https:/example.com/a.png'],
    ['no slash', 'https:example.com/a.png'],
    ['one slash too many', 'https:///example.com/a.png'],
    ['a blank', 'https://exa mple.com/a.png'],
    ['a tab that some leave out', 'https://example.com/\ta.png'],
    ['a line end', 'https://example.com/a.png\nhost: x'],
    ['a NUL', 'https://example.com/\u0000'],
    ['a blank in front', ' https://example.com/a.png'],
    ['a novel', `https://example.com/${'x'.repeat(2_048)}`],
  ])('no link into the dark: %s', (_what, url) => {
    expect(refusal(withParts(image(url)))).toBe('invalid_request messages[0].content[0].image_url.url');
  });

  it.each(['data:image/png;base64,AAAA', 'DATA:,x', ' data:,x'])(
    'inline data is sent to uploads: %s',
    (url) => {
      expect(refusalOf(withParts(image(url))).message).toContain('POST /uploads');
    },
  );

  it.each<[string, string, string]>([
    ['sound', '{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}', 'transcript'],
    [
      'a document',
      '{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}',
      'link to the document',
    ],
    [
      'a document by its bytes',
      '{"type":"file","file":{"file_data":"JVBERi0xLjcK"}}',
      'link to the document',
    ],
    ['a film', '{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}', 'link to the video'],
    ['sound in a file', '{"type":"file","file":{"file_data":"data:audio/wav;base64,AAAA"}}', 'transcript'],
  ])('%s inline is not sent to uploads, which take images alone', (_what, part, advice) => {
    const { message } = refusalOf(withParts(part));
    expect(message).toContain(advice);
    expect(message).not.toContain('/uploads');
  });

  it('an image in a file is sent to uploads', () => {
    const part = '{"type":"file","file":{"file_data":"data:image/png;base64,AAAA"}}';
    expect(refusalOf(withParts(part)).message).toContain('POST /uploads');
  });

  it.each<[FormatName, object, string]>([
    ['responses', { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' }, 'document'],
    ['responses', { type: 'input_file', file_data: 'data:image/png;base64,AAAA' }, 'POST /uploads'],
    ['responses', { type: 'input_audio', input_audio: { data: 'AAAA' } }, 'transcript'],
    ['messages', { type: 'image', source: { type: 'base64', media_type: 'image/png' } }, 'POST /uploads'],
    ['messages', { type: 'document', source: { type: 'base64', media_type: 'application/pdf' } }, 'document'],
    ['messages', { type: 'document', source: { type: 'url', url: 'data:application/pdf,x' } }, 'document'],
  ])('what is inline in %s is told what to send in its place: %j', (format, part, advice) => {
    const list = format === 'responses' ? 'input' : 'messages';
    const counted = callFormats[format].countMedia(
      { [list]: [{ role: 'user', content: [part] }] },
      noLinkRules,
    );
    expect('message' in counted && counted.message).toContain(advice);
  });

  it.each<[string, string, string]>([
    ['sound', '{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}', 'input_audio'],
    ['a stored file', '{"type":"file","file":{"file_id":"file-1"}}', 'file.file_id'],
    [
      'a file with its bytes',
      '{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}',
      'file',
    ],
    ['a file with its bytes alone', '{"type":"file","file":{"file_data":"JVBERi0xLjcK"}}', 'file'],
    ['a file of nothing', '{"type":"file","file":{}}', 'file'],
    [
      'a good link that hides a bad one',
      '{"type":"file","file":{"file_data":"https://example.com/a.pdf","file_url":"http://10.0.0.1/"}}',
      'file',
    ],
    [
      'a bad film behind a good one',
      '{"type":"input_video","video_url":{"url":"https://example.com/a.mp4"},"input_video":{"url":"http://10.0.0.1/"}}',
      'input_video',
    ],
    ['a film inline', '{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}', 'video_url'],
    ['an entry of a shared cache', '{"type":"text","text":"x","uuid":"1"}', 'uuid'],
    ['a reference', '{"type":"item_reference","id":"x"}', 'type'],
    ['a tool in a message', '{"type":"tool_addition","tools":[]}', 'type'],
    ['a part of tomorrow', '{"type":"hologram"}', 'type'],
  ])('not served: %s', (_what, part, at) => {
    expect(refusal(withParts('{"type":"text","text":"a"}', part))).toBe(
      `invalid_request messages[0].content[1].${at}`,
    );
  });

  it.each<[string, string, string]>([
    ['sound kept for the account', '"audio":{"id":"audio_1"}', 'audio'],
    [
      'an image inline',
      '"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]',
      'images[0].image_url.url',
    ],
    [
      'an image from inside',
      '"images":[{"type":"image_url","image_url":{"url":"http://10.0.0.1/"}}]',
      'images[0].image_url.url',
    ],
    ['an image from inside, bare', '"images":["http://10.0.0.1/"]', 'images[0].image_url'],
    ['no list of images', '"images":"https://example.com/a.png"', 'images'],
  ])('nor does an earlier answer bring it back: %s', (_what, member, at) => {
    const body = `{"model":"acme/small","messages":[{"role":"assistant","content":"x",${member}}]}`;
    expect(refusal(body)).toBe(`invalid_request messages[0].${at}`);
  });

  it('what an assistant says besides passes: thoughts, refusals, tool calls, sources', () => {
    expect(
      isAdmitted(
        '{"model":"acme/small","messages":[{"role":"assistant","content":null,"refusal":null,"audio":null,"reasoning":"x",' +
          '"reasoning_details":[{"type":"reasoning.text"}],"annotations":[{"type":"url_citation"}],"images":null,' +
          '"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\\"type\\":\\"mcp\\"}"}}]}]}',
      ),
    ).toBe(true);
  });
});

describe('a tool that a message brings by its definition', () => {
  const refusedTool = (definition: object, isCompacted: boolean): string | null => {
    const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition } };
    const block = isCompacted ? { type: 'compaction', content: 'x', tool_changes: [addition] } : addition;
    const error = callFormats.messages.refuseTools({ messages: [{ role: 'user', content: [block] }] });
    return error === null ? null : `${error.code} ${error.param}`;
  };

  it.each([false, true])('is taken if the caller runs it, and by itself alone', (isCompacted) => {
    const at = `messages[0].content[0]${isCompacted ? '.tool_changes[0]' : ''}.tool.definition`;
    expect(refusedTool({ name: 'f', input_schema: {} }, isCompacted)).toBe(null);
    for (const type of ['code_execution_20250825', 'web_search_20250305'])
      expect(refusedTool({ type, name: 'x' }, isCompacted)).toBe(`tool_not_served ${at}`);
    const called = { name: 'f', allowed_callers: ['code_execution_20250825'] };
    expect(refusedTool(called, isCompacted)).toBe(`tool_not_served ${at}.allowed_callers`);
  });
});
