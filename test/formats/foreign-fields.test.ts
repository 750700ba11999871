import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { noLinkRules, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';
import { FORMATS, requestIn } from './requests.ts';

function admit(format: FormatName, extra: object) {
  const body = Buffer.from(JSON.stringify(requestIn(format, 'acme/small', extra)));
  const routes = { catalog: testCatalog(), health: plainHealth(), links: noLinkRules };
  return admitCall(callFormats[format], body, 'active', routes);
}

function refused(format: FormatName, extra: object) {
  const admitted = admit(format, extra);
  return admitted.ok ? 'admitted' : `${admitted.error.code} ${admitted.error.param}`;
}

const OWN: Readonly<Record<FormatName, readonly string[]>> = {
  chat: ['max_tokens', 'max_completion_tokens', 'n', 'prediction'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
};
const OTHERS: Readonly<Record<string, unknown>> = {
  max_tokens: 9,
  max_completion_tokens: 9,
  max_output_tokens: 9,
  n: 2,
  prediction: { type: 'content', content: 'x' },
};

describe.each(FORMATS)('%s: fields that decide the price', (format) => {
  it.each(Object.entries(OTHERS).filter(([field]) => !OWN[format].includes(field)))(
    'and belong to another format are refused by name: %s',
    (field, value) => {
      expect(refused(format, { [field]: value })).toBe(`invalid_request ${field}`);
      expect(refused(format, { [field]: null })).toBe('admitted');
    },
  );

  it('and ask for what happens anyway pass', () => {
    expect(refused(format, { n: 1 })).toBe('admitted');
  });

  it.each(['n_predict', 'num_predict', 'max_new_tokens', 'max_length', 'max_tokens_to_sample'])(
    'and cap the answer by a name of some server are refused: %s',
    (field) => expect(refused(format, { [field]: 100_000 })).toBe(`invalid_request ${field}`),
  );

  it('have room for thought beyond the cap, whichever word bounds it', () => {
    const cap = { [OWN[format][0] ?? '']: 10 };
    for (const thought of [
      { thinking: { type: 'enabled', budget_tokens: 3_000 } },
      { reasoning: { max_tokens: 3_000 } },
    ]) {
      const admitted = admit(format, { ...cap, ...thought });
      expect(admitted.ok && admitted.plan.outputTokensCap).toBe(3_000);
    }
    expect(refused(format, { thinking: { type: 'enabled', budget_tokens: 0.5 } })).toMatch(
      /^invalid_request/,
    );
  });

  it.each<[string, unknown]>([
    ['compaction by the model', { edits: [{ type: 'compact_20260112' }] }],
    [
      'compaction beside what only clears',
      { edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_1' }] },
    ],
    ['compaction by a list', [{ type: 'compaction', compact_threshold: 1_000 }]],
    ['edits that nobody knows', { edits: 'all' }],
    ['a word', 'auto'],
  ])('and have the model read and write once more are refused: %s', (_what, value) => {
    expect(refused(format, { context_management: value })).toBe('invalid_request context_management');
  });

  it('and only clear what was said pass', () => {
    const edits = [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }];
    expect(refused(format, { context_management: { edits } })).toBe('admitted');
    expect(refused(format, { context_management: {} })).toBe('admitted');
  });

  it.each<[string, object]>([
    ['in a word', { only: 'openai/priority' }],
    ['in the middle', { order: ['openai/priority/us'] }],
    ['before a blank', { order: ['openai/priority '] }],
  ])('name no dearer tier, %s either', (_how, provider) => {
    expect(refused(format, { provider })).toMatch(/^invalid_request provider\.(only|order)$/);
  });
});

describe.each(FORMATS)('%s: an answer that would be collected later', (format) => {
  it.each(['background', 'deferred'])(
    'from the account that all agents share is not asked for: %s',
    (field) => {
      expect(refused(format, { [field]: true })).toBe(`invalid_request ${field}`);
      expect(refused(format, { [field]: false })).toBe('admitted');
      expect(refused(format, { [field]: null })).toBe('admitted');
    },
  );
});

describe('a choice of tool', () => {
  it.each<[FormatName, unknown]>([
    ['responses', 'web_search_preview'],
    ['messages', { type: 'web_search' }],
    ['messages', { type: 'web_search_20250305', name: 'web_search' }],
  ])('on %s is none of a tool that the body has no bounds for: %j', (format, choice) => {
    expect(refused(format, { tool_choice: choice })).toMatch(/tool_choice(\.type)?$/);
  });
});

describe('an item of responses without a type', () => {
  it.each<[string, unknown]>([
    ['with an id alone', { id: 'msg_1' }],
    ['with a type of null', { type: null, id: 'rs_1' }],
    ['with a role and nothing said', { id: 'msg_1', role: 'assistant' }],
  ])('is no reference to what is stored: %s', (_what, item) => {
    expect(refused('responses', { input: [{ role: 'user', content: 'hi' }, item] })).toBe(
      'invalid_request input[1]',
    );
  });
});

it('a plugin that costs nothing brings nothing with it', () => {
  const free = { id: 'response-healing', enabled: true };
  expect(refused('chat', { plugins: [free, { id: 'context-compression', engine: 'middle-out' }] })).toBe(
    'admitted',
  );
  expect(refused('chat', { plugins: [{ ...free, model: 'acme/large' }] })).toBe(
    'invalid_request plugins[0].model',
  );
});
