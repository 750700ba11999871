import { expect, it } from 'vitest';
import { openTypeJudge } from './type-judge.ts';

const judge = openTypeJudge(new URL('official-types.ts', import.meta.url));

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
const choice = { index: 0, delta: {}, finish_reason: null };

it('a chunk as the API documents it has no faults', () => {
  const calls = [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }];
  const value = {
    ...chunk,
    choices: [{ ...choice, delta: { content: 'x', tool_calls: calls } }],
    usage: null,
  };
  expect(judge.faults('ChatEvent', value)).toEqual([]);
});

it.each([
  [
    'a member that is missing',
    { ...chunk, choices: [{ index: 0, delta: {} }] },
    'choices[].finish_reason',
    'missing',
  ],
  [
    'a list in the place of a text',
    { ...chunk, choices: [{ ...choice, delta: { content: [] } }] },
    'choices[].delta.content',
    'type',
  ],
  [
    'a word that the API does not have',
    { ...chunk, choices: [{ ...choice, finish_reason: 'eos' }] },
    'choices[].finish_reason',
    'type',
  ],
  ['a null where none may stand', { ...chunk, choices: [choice], id: null }, 'id', 'type'],
  ['a number in the place of a text', { ...chunk, choices: [choice], model: 7 }, 'model', 'type'],
  [
    'a member that the API does not have',
    { ...chunk, choices: [choice], provider: 'p' },
    'provider',
    'unknown',
  ],
])('%s is a fault', (_, value, path, kind) => {
  expect(judge.faults('ChatEvent', value)).toMatchObject([{ path, kind }]);
});

it('a member of a union is told by its literals', () => {
  const stopped = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta' } };
  expect(judge.faults('MessagesEvent', stopped)).toMatchObject([{ path: 'delta.text', kind: 'missing' }]);
  expect(judge.faults('MessagesEvent', { type: 'content_block_stop', index: 0 })).toEqual([]);
  expect(judge.faults('MessagesEvent', { type: 'invented' })).toMatchObject([{ path: '', kind: 'type' }]);
});
