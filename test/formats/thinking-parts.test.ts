import { expect, it } from 'vitest';
import { fitAnswers } from '../../api/inference/formats/fit-history.ts';
import { writeReasoning } from '../../api/inference/translation/write-reasoning.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { askedDialect } from './asked-dialect.ts';

/* Mistral writes its reasoning as a part of the content, and takes it back there alone. */

const PART = { type: 'thinking', thinking: [{ type: 'text', text: 'so far' }], closed: true };
const TEXT = { type: 'text', text: 'Hello' };
const taken = (message: object) => fitAnswers([{ role: 'assistant', ...message }], dialects.mistral)[0];

it.each<[string, object]>([
  ['reasoning', { reasoning: 'so far', content: 'Hello' }],
  ['reasoning_content', { reasoning_content: 'so far', content: [TEXT] }],
  [
    'reasoning_details',
    { reasoning_details: [{ type: 'reasoning.text', text: 'so far' }], content: 'Hello' },
  ],
  ['a part of Claude', { content: [{ type: 'thinking', thinking: 'so far', signature: 's' }, TEXT] }],
])('the reasoning of an earlier answer comes back to it, from %s', (_place, message) => {
  expect(taken(message)).toEqual({ role: 'assistant', content: [PART, TEXT] });
});

it('its own part comes back as it was, once', () => {
  const own = { type: 'thinking', thinking: [{ type: 'text', text: 'so far' }] };
  expect(taken({ reasoning: 'so far', content: [own, TEXT] })).toEqual({
    role: 'assistant',
    content: [own, TEXT],
  });
});

it('an answer that called without a word has its reasoning alone', () => {
  const tool_calls = [{ id: 'abcdefghi', type: 'function', function: { name: 'f', arguments: '{}' } }];
  expect(taken({ reasoning: 'so far', content: null, tool_calls })).toMatchObject({
    content: [PART],
    tool_calls,
  });
});

it('an answer without reasoning stays as it was, and other servers are sent no such part', () => {
  expect(taken({ content: 'Hello' })).toEqual({ role: 'assistant', content: 'Hello' });
  const [other] = fitAnswers([{ role: 'assistant', reasoning: 'so far', content: 'Hello' }], dialects.groq);
  expect(JSON.stringify(other)).not.toContain('thinking');
});

it('a translated answer has it, too', () => {
  const reasoning = { type: 'reasoning', text: 'so far', signature: null, encrypted: null } as const;
  expect(writeReasoning([reasoning], { ...askedDialect, takesThinkingParts: true }).contentParts).toEqual([
    PART,
  ]);
});
