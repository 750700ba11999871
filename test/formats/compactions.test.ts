import { describe, expect, it } from 'vitest';
import { leftOutOf, refusalOf, sentTo, user } from './ask.ts';

/* A compaction stands for all that was said before it, so it never vanishes. */

const summary = 'So far: the user counts sheep.';
const answer = { role: 'assistant', content: 'y' };
const texts = (...said: string[]) => said.map((text) => ({ type: 'text', text }));

describe('a compaction of the messages format', () => {
  const withBlocks = (...content: object[]) => ({
    messages: [user, answer, { role: 'assistant', content }, { role: 'user', content: 'Go on.' }],
  });

  it.each<[string, object]>([
    ['a text', { type: 'compaction', content: summary, encrypted_content: 'sealed' }],
    ['blocks', { type: 'compaction', content: texts(summary) }],
  ])(
    'goes on as text in the place of what was said before it, as its provider reads it: %s',
    (_how, block) => {
      const sent = sentTo('messages', 'chat', { system: 'Be short.', ...withBlocks(block, ...texts('z')) });
      expect(sent.messages).toEqual([
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: summary },
        { role: 'assistant', content: 'z' },
        { role: 'user', content: 'Go on.' },
      ]);
    },
  );

  it('counts as the newest one where there are several', () => {
    const blocks = ['old', 'new'].map((content) => ({ type: 'compaction', content }));
    expect(sentTo('messages', 'chat', withBlocks(...blocks)).messages).toEqual([
      { role: 'user', content: 'new' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  it('changes nothing if it failed, as at its provider', () => {
    for (const content of [null, undefined]) {
      const body = withBlocks({ type: 'compaction', content }, ...texts('z'));
      expect(sentTo('messages', 'chat', body).messages).toEqual([
        user,
        answer,
        { role: 'assistant', content: 'z' },
        { role: 'user', content: 'Go on.' },
      ]);
    }
  });

  it('brings the tools that were added in what it stands for', () => {
    const definition = { name: 'f', input_schema: { type: 'object', properties: {} } };
    const tool_changes = [
      { type: 'tool_addition', tool: { type: 'tool_definition', definition } },
      { type: 'tool_addition', tool: { type: 'tool_reference', name: 'g' } },
    ];
    const body = withBlocks({ type: 'compaction', content: summary, tool_changes });
    expect(sentTo('messages', 'chat', body).tools).toMatchObject([{ function: { name: 'f' } }]);
  });

  it('that only its issuer can read is refused in words', () => {
    const { code, param, message } = refusalOf(
      'messages',
      'chat',
      withBlocks({ type: 'compaction', content: null, encrypted_content: 'sealed' }),
    );
    expect([code, param]).toEqual(['invalid_request', 'messages[2].content[0].encrypted_content']);
    expect(message).toContain('a compaction that only its issuer can read');
  });
});

describe.each(['chat', 'messages'] as const)('a compaction of the responses format, asked in %s', (to) => {
  const withItem = (item: object) => ({ input: [item, { role: 'user', content: 'Go on.' }] });

  it.each(['compaction', 'context_compaction'])(
    'that only its issuer can read is refused in words: %s',
    (type) => {
      const { code, param, message } = refusalOf(
        'responses',
        to,
        withItem({ type, encrypted_content: 'gAAAA' }),
      );
      expect([code, param]).toEqual(['invalid_request', 'input[0].encrypted_content']);
      expect(message).toContain('a compaction that only its issuer can read');
      expect(message).not.toContain('gAAAA');
    },
  );

  it.each<[string, object]>([
    ['a text', { content: summary }],
    ['parts', { content: [{ type: 'output_text', text: summary }] }],
    ['a summary', { summary: [{ type: 'summary_text', text: summary }] }],
    ['both', { content: summary, encrypted_content: 'gAAAA' }],
  ])('goes on as text where it can be read: %s', (_how, members) => {
    const body = withItem({ type: 'compaction', ...members });
    expect(JSON.stringify(sentTo('responses', to, body).messages)).toContain(summary);
    expect(leftOutOf('responses', to, body)).toEqual([]);
  });

  it('says nothing if it has nothing', () => {
    const body = withItem({ type: 'context_compaction' });
    expect(sentTo('responses', to, body)).toEqual(
      sentTo('responses', to, { input: [{ role: 'user', content: 'Go on.' }] }),
    );
  });
});

describe('calls that the responses format has items of its own for', () => {
  const operation = { type: 'update_file', path: 'a.py', diff: '@@' };
  const image_url = 'https://example.com/screen.png';

  it('go on as calls of a function, with their results', () => {
    const input = [
      user,
      { type: 'apply_patch_call', call_id: 'c1', operation, status: 'completed' },
      { type: 'apply_patch_call_output', call_id: 'c1', output: 'no such file', status: 'failed' },
      { type: 'computer_call', call_id: 'c2', action: { type: 'click', x: 1, y: 2 } },
      { type: 'computer_call_output', call_id: 'c2', output: { type: 'computer_screenshot', image_url } },
    ];
    expect(sentTo('responses', 'messages', { input }).messages).toMatchObject([
      {},
      { content: [{ type: 'tool_use', id: 'c1', name: 'apply_patch', input: { operation } }] },
      {
        content: [{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content: texts('no such file') }],
      },
      { content: [{ type: 'tool_use', id: 'c2', name: 'computer', input: { action: { type: 'click' } } }] },
      {
        content: [
          { type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url: image_url } }] },
        ],
      },
    ]);
  });
});
