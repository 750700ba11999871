import { describe, expect, it } from 'vitest';
import { isApiError } from '../../api/contract/errors.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import {
  TOOL_USE_PROMPT_TOKENS,
  TOOLSET_PROMPT_TOKENS,
  toolPromptTokens,
} from '../../api/inference/price/prompt-bound.ts';
import { translateRequest } from '../../api/inference/translation/translate-request.ts';
import { asked } from '../formats/asked-dialect.ts';
import { plainHealth } from '../support/plain-health.ts';
import { noLinkRules, testCatalog } from './support.ts';

/* Tools that a message brings in the middle of a conversation, as Anthropic's documentation has them. */

const add = (tool: unknown) => ({ type: 'tool_addition', tool });
const define = (definition: unknown) => add({ type: 'tool_definition', definition });
const remove = (tool: unknown) => ({ type: 'tool_removal', tool });
const named = { type: 'tool_reference', name: 'get' };
const own = { name: 'get', input_schema: { type: 'object' } };
const hosted = [
  'web_search_20250305',
  'web_fetch_20250910',
  'code_execution_20250825',
  'memory_20250818',
  'mcp_toolset',
];

const bodyWith = (...blocks: object[]) => ({
  model: 'acme/small',
  max_tokens: 200,
  tools: [{ ...own, defer_loading: true }],
  messages: [
    { role: 'user', content: 'x' },
    { role: 'system', content: blocks },
  ],
});
const withSummary = (...changes: unknown[]) => ({
  ...bodyWith({ type: 'text', text: 's' }),
  messages: [
    {
      role: 'assistant',
      content: [{ type: 'compaction', content: 's', signature: 'x', tool_changes: changes }],
    },
    { role: 'user', content: 'x' },
  ],
});

function refusal(body: object): string {
  const admitted = admitCall(callFormats.messages, Buffer.from(JSON.stringify(body)), 'active', {
    catalog: testCatalog(),
    health: plainHealth(),
    links: noLinkRules,
  });
  return admitted.ok ? 'admitted' : `${admitted.error.code} ${admitted.error.param}`;
}

describe('a message that changes the tools', () => {
  it.each<[string, object]>([
    ['names a tool of the body', add(named)],
    ['withdraws one', remove(named)],
    ['defines one that the caller runs', define(own)],
    ['defines one by its type that the caller runs', define({ type: 'bash_20250124', name: 'bash' })],
  ])('is taken when it %s', (_what, block) => {
    expect(refusal(bodyWith(block))).toBe('admitted');
    expect(refusal(withSummary(block))).toBe('admitted');
  });

  it.each(hosted)('brings no tool that the provider runs: %s', (type) => {
    const at = 'messages[1].content[0].tool.definition';
    expect(refusal(bodyWith(define({ type, name: 'x' })))).toBe(`tool_not_served ${at}`);
    expect(refusal(withSummary(add(named), define({ type, name: 'x' })))).toBe(
      'tool_not_served messages[0].content[0].tool_changes[1].tool.definition',
    );
  });

  it('brings none that a program of the provider calls', () => {
    expect(refusal(bodyWith(define({ ...own, allowed_callers: ['code_execution_20260120'] })))).toBe(
      'tool_not_served messages[1].content[0].tool.definition.allowed_callers',
    );
  });

  it.each<[unknown, string]>([
    [
      { type: 'mcp_tool_reference', server_name: 's', name: 'x' },
      'tool_not_served messages[1].content[0].tool',
    ],
    [{ type: 'mcp_toolset_reference', server_name: 's' }, 'tool_not_served messages[1].content[0].tool'],
    [{ type: 'tool_of_next_year' }, 'tool_not_served messages[1].content[0].tool'],
    [{ type: 'tool_definition', definition: 'x' }, 'invalid_request messages[1].content[0].tool.definition'],
    [{ definition: { type: 'web_search_20250305' } }, 'invalid_request messages[1].content[0].tool.type'],
    [null, 'invalid_request messages[1].content[0].tool.type'],
  ])('is refused when it brings anything else: %j', (tool, told) => {
    expect(refusal(bodyWith(add(tool)))).toBe(told);
  });

  it.each<[string, object]>([
    ['a change', define({ type: 'web_search_20250305', name: 'x' })],
    ['a summary', { type: 'compaction', tool_changes: [define({ type: 'web_search_20250305' })] }],
  ])('is not looked for where no provider reads one: %s', (_what, block) => {
    const deep = [
      { type: 'tool_result', tool_use_id: 'c', content: [block] },
      { type: 'document', source: { type: 'content', content: [block] } },
    ];
    for (const outer of deep)
      expect(refusal(bodyWith(outer))).toMatch(/^invalid_request .*\.content\[0\]\.type$/);
    expect(refusal({ ...bodyWith({ type: 'text', text: 's' }), system: [block] })).toBe(
      'invalid_request system[0].type',
    );
  });

  it('is not read in two ways by other letters', () => {
    const block = {
      ...add(named),
      Tool: { type: 'tool_definition', definition: { type: 'web_search_20250305' } },
    };
    expect(refusal(bodyWith(block))).toBe('invalid_request messages[1].content[0].tool');
  });

  it('counts what the provider tells the model of the tools that it brings', () => {
    const set = define({ type: 'browser_toolset_20260801' });
    for (const body of [bodyWith(set), withSummary(set)])
      expect(toolPromptTokens({ ...body, tools: [] })).toBe(TOOL_USE_PROMPT_TOKENS + TOOLSET_PROMPT_TOKENS);
    expect(toolPromptTokens({ input: [{ type: 'additional_tools', tools: [{ type: 'function' }] }] })).toBe(
      TOOL_USE_PROMPT_TOKENS,
    );
  });
});

describe('where the provider speaks no messages', () => {
  function toolsOf(body: object): [unknown, readonly string[]] {
    const result = translateRequest({ ...body }, 'messages', 'chat', asked);
    if (isApiError(result)) throw new Error(result.message);
    const { tools, messages } = JSON.parse(result.object.bytes.toString());
    // A message that changes the tools and says nothing is no message to another provider.
    expect(messages).not.toContainEqual({ role: 'system', content: '' });
    return [
      tools.map((tool: { function: { name: string; description?: string } }) => tool.function),
      result.leftOut,
    ];
  }

  it('a tool that a message defines joins the others, and the last of one name counts', () => {
    const later = { ...own, description: 'Later.' };
    const [tools, leftOut] = toolsOf(bodyWith(define({ ...own, name: 'put' }), define(later)));
    expect(tools).toMatchObject([{ name: 'get', description: 'Later.' }, { name: 'put' }]);
    expect(leftOut).toEqual([]);
    expect(toolsOf(withSummary(define({ ...own, name: 'put' })))[0]).toMatchObject([
      { name: 'get' },
      { name: 'put' },
    ]);
  });

  it('a tool that is named is there already, and one that is withdrawn stays and is told', () => {
    expect(toolsOf(bodyWith(add(named)))).toMatchObject([[{ name: 'get' }], []]);
    expect(toolsOf(bodyWith(remove(named)))).toMatchObject([[{ name: 'get' }], ['messages[1].content[0]']]);
  });
});
