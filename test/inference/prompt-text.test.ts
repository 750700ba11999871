import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import type { CallPlan } from '../../api/inference/admit/call-plan.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { estimateHold } from '../../api/inference/price/estimate.ts';
import { promptTextBytes } from '../../api/inference/price/prompt-text.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { translate } from '../formats/ask.ts';
import { plainHealth } from '../support/plain-health.ts';
import { endpoint, model, noLinkRules, prices, provider, testCatalog } from './support.ts';

/* Whatever a provider is sent as words is counted: in the bound that the hold is made of, and in the estimate of an uncounted prompt. */

const tool = {
  description: 'Reads.',
  parameters: { type: 'object', properties: { p: { type: 'string', description: 'A path.' } } },
};
const { parameters, ...about } = tool;
const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } };
const schema = { type: 'object', properties: { a: { type: 'string', description: 'An a.' } } };
const inner = { type: 'function', name: 'inner', ...tool };

/** Requests with words at every place that has room for them. */
const bodies: Readonly<Record<string, readonly [FormatName, object]>> = {
  chat: [
    'chat',
    {
      messages: [
        { role: 'system', name: 'boss', content: 'Be short.' },
        { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hello.' }] },
        { role: 'developer', content: 'Now in French.' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Well.' },
            { type: 'refusal', refusal: 'No.' },
          ],
          reasoning_content: 'Why not?',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"p":"a"}' } },
            { id: 'c2', type: 'custom', custom: { name: 'patch', input: 'a  b' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
        { role: 'assistant', content: null, refusal: 'Not that.', reasoning: 'Hm.' },
        { role: 'user', content: 'And?' },
        {
          role: 'assistant',
          content: 'z',
          reasoning_details: [{ type: 'reasoning.text', text: 'So.', signature: 's' }],
        },
        { role: 'user', content: 'And now?' },
      ],
      tools: [
        { type: 'function', function: { name: 'read', ...tool } },
        { type: 'custom', custom: { name: 'patch', description: 'Patches.', format: grammar } },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'a', description: 'An a.', schema } },
    },
  ],
  'chat with functions': [
    'chat',
    {
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: null, function_call: { name: 'read', arguments: '{"p":"a"}' } },
        { role: 'function', name: 'read', content: 'one' },
      ],
      functions: [{ name: 'read', ...tool }],
    },
  ],
  responses: [
    'responses',
    {
      instructions: 'Be short.',
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'namespace', name: 'more', tools: [inner] }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'In short.' }] },
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'At length.' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'Well.' },
            { type: 'refusal', refusal: 'No.' },
          ],
        },
        { type: 'function_call', call_id: 'c1', namespace: 'files', name: 'read', arguments: '{"p":"a"}' },
        { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'one' }] },
        { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'a  b' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'two' },
        { type: 'apply_patch_call', call_id: 'c3', operation: { type: 'delete_file', path: 'a.py' } },
        { type: 'apply_patch_call_output', call_id: 'c3', output: 'three' },
        { type: 'compaction', content: 'All of it.' },
        { role: 'developer', content: 'Now in French.' },
        { type: 'tool_search_output', call_id: 's', tools: [inner] },
        { role: 'user', content: 'And now?' },
      ],
      tools: [
        { type: 'namespace', name: 'files', tools: [{ type: 'function', name: 'read', ...tool }] },
        {
          type: 'custom',
          name: 'patch',
          description: 'Patches.',
          format: { type: 'grammar', ...grammar.grammar },
        },
      ],
      text: { format: { type: 'json_schema', name: 'a', description: 'An a.', schema } },
    },
  ],
  messages: [
    'messages',
    {
      max_tokens: 4_000,
      system: [{ type: 'text', text: 'Be short.' }],
      messages: [
        { role: 'user', content: 'Lost.' },
        { role: 'assistant', content: [{ type: 'compaction', content: 'All of it.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello.' },
            {
              type: 'search_result',
              source: 'https://a.example',
              title: 'A',
              content: [{ type: 'text', text: 'B' }],
            },
          ],
        },
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Now in French.' },
            {
              type: 'tool_addition',
              tool: {
                type: 'tool_definition',
                definition: { name: 'added', ...about, input_schema: parameters },
              },
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Why not?', signature: '' },
            { type: 'text', text: 'Well.' },
            { type: 'tool_use', id: 'c1', name: 'read', input: { p: 'a' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c1',
              content: [
                { type: 'text', text: 'one' },
                { type: 'tool_reference', tool_name: 'read' },
              ],
            },
          ],
        },
      ],
      tools: [{ name: 'read', ...about, input_schema: parameters, input_examples: [{ p: 'b' }] }],
      output_config: { format: { type: 'json_schema', schema } },
    },
  ],
  'messages with documents': [
    'messages',
    {
      max_tokens: 4_000,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'Once.' },
              title: 'Tale',
              context: 'Old.',
            },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Twice.' }] } },
          ],
        },
      ],
    },
  ],
  'messages with the older format of an answer': [
    'messages',
    {
      max_tokens: 4_000,
      messages: [{ role: 'user', content: 'x' }],
      output_format: { type: 'json_schema', schema },
    },
  ],
};

/** Members that hold no words: kinds, ids, places and what only a provider can read. */
const WORDLESS = new Set(
  'type role id call_id tool_call_id tool_use_id media_type signature status'.split(' '),
);
const LONGER = 'q'.repeat(1_000);

/** The same body once for each text in it that is made of words, with a longer text there. */
function lengthened(value: unknown, path: string): { path: string; body: unknown }[] {
  if (typeof value === 'string')
    return [{ path, body: value.endsWith('}') ? `${value.slice(0, -2)}${LONGER}"}` : value + LONGER }];
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((each, index) => [String(index), each])
    : isRecord(value)
      ? Object.entries(value)
      : [];
  return entries.flatMap(([name, member]) => {
    if (WORDLESS.has(name) && typeof member === 'string') return [];
    // The name stands with the call already.
    if (name === 'name' && Reflect.get(Object(value), 'role') === 'function') return [];
    return lengthened(member, `${path}.${name}`).map(({ path: at, body }) => ({
      path: at,
      body: Array.isArray(value) ? value.with(Number(name), body) : { ...Object(value), [name]: body },
    }));
  });
}

const countOf = (text: string): number => text.split(LONGER).length - 1;

/** The plan of a call whose provider is asked in another format, and takes a nano-dollar for each token that it reads. */
function planFor(from: FormatName, to: 'chat' | 'messages', asked: object): CallPlan {
  const kind = to === 'chat' ? providerKinds.openai : providerKinds.anthropic;
  const nano = prices({ prompt: 10n ** 9n, completion: 0n });
  const priced = model({ contextLength: 1_000_000, endpoints: [endpoint({ prices: nano })] });
  const body = Buffer.from(JSON.stringify({ model: 'acme/small', ...asked }));
  const admitted = admitCall(callFormats[from], body, 'active', {
    catalog: testCatalog({ models: [priced], providers: [provider({ formats: [to], kind })] }),
    health: plainHealth(),
    links: noLinkRules,
  });
  if (!admitted.ok) throw new Error(`${admitted.error.param}: ${admitted.error.message}`);
  return admitted.plan;
}

describe.each(Object.entries(bodies))('of %s', (_name, [from, body]) => {
  const places = lengthened(body, '').map(({ path, body: longer }) => ({ path, longer: Object(longer) }));
  const targets =
    from === 'chat'
      ? (['messages'] as const)
      : from === 'messages'
        ? (['chat'] as const)
        : (['chat', 'messages'] as const);

  it('has an estimate to which every text counts', () => {
    const uncounted = places.filter(
      ({ longer }) => promptTextBytes(longer) - promptTextBytes(Object(body)) < LONGER.length,
    );
    expect(uncounted.map(({ path }) => path)).toEqual([]);
  });

  it.each(targets)(
    'has a bound to which every text counts as often as a server of the %s format is sent it',
    (to) => {
      const plan = planFor(from, to, body);
      // A document may fill the whole context.
      if (plan.promptTokensMax === Number.MAX_SAFE_INTEGER) return;
      const plain = estimateHold(plan);
      let reaches = 0;
      for (const { path, longer } of places) {
        const result = translate(from, to, longer);
        if (isApiError(result)) throw new Error(`${path}: ${result.message}`);
        const sent = countOf(result.object.bytes.toString());
        if (sent > 0) reaches++;
        const more = Number(estimateHold(planFor(from, to, longer)) - plain);
        expect([path, more >= sent * LONGER.length]).toEqual([path, true]);
      }
      expect(reaches).toBeGreaterThan(places.length / 2);
    },
  );
});

describe('the bound of a translated prompt', () => {
  const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }];

  it('has room for what a server tells the model of tools, wherever they come from', () => {
    const bounds = [
      { input: [{ role: 'user', content: 'x' }], tools },
      {
        input: [
          { type: 'additional_tools', tools },
          { role: 'user', content: 'x' },
        ],
      },
    ].map((asked) => {
      const result = translate('responses', 'chat', asked);
      return isApiError(result) ? 0 : result.promptTokensMax;
    });
    const none = translate('responses', 'chat', { input: 'x' });
    if (isApiError(none)) throw new Error(none.message);
    expect(bounds[0]).toBe(bounds[1]);
    expect((bounds[0] ?? 0) - none.promptTokensMax).toBeGreaterThan(1_000);
  });

  it('is held for where the translation is longer than the caller’s own words', () => {
    const asked = {
      messages: Array.from({ length: 201 }, (_, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: 'x',
      })),
    };
    const result = translate('chat', 'messages', asked);
    if (isApiError(result)) throw new Error(result.message);
    const plan = planFor('chat', 'messages', asked);
    expect(result.promptTokensMax).toBeGreaterThan(plan.promptTokensMax);
    expect(result.promptTokensMax).toBeGreaterThan(result.object.bytes.length);
    expect(estimateHold(plan)).toBeGreaterThanOrEqual(BigInt(result.promptTokensMax));
  });

  it('does not depend on the cap, so that a cap that was named as fitting fits when it is sent', () => {
    const bound = (outputTokensCap: number, reasonsByEffort: boolean, reasoning: object): number => {
      const result = translate(
        'chat',
        'messages',
        { messages: [{ role: 'user', content: 'x' }], reasoning },
        { outputTokensCap, reasonsByEffort },
      );
      if (isApiError(result)) throw new Error(result.message);
      return result.promptTokensMax;
    };
    for (const byEffort of [true, false])
      for (const reasoning of [{ max_tokens: 2_000 }, { effort: 'high' }]) {
        const bounds = [1_100, 2_500, 20_000, 3_000_000].map((cap) => bound(cap, byEffort, reasoning));
        expect(new Set(bounds).size).toBe(1);
      }
  });
});
