import { describe, expect, it } from 'vitest';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { fitAnswers } from '../../api/inference/formats/fit-history.ts';
import { AnswerText, addChat } from '../../api/inference/price/answer-text.ts';
import { promptTextBytes } from '../../api/inference/price/prompt-text.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { sentTo, user } from './ask.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* Servers send the content of an answer as a list of parts, with the reasoning in one of them. */

const THOUGHT = 'Two towns to check.';
const TEXT = 'Rain by noon.';
const texts = (text: string, type = 'text') => [{ type, text }];

/** The reasoning as a part, in the words of the vendors that have it. In a stream the last part alone is signed. */
const parts: [string, (text: string, isLast?: boolean) => object][] = [
  ['Databricks', (text) => ({ type: 'reasoning', summary: texts(text, 'summary_text') })],
  [
    'Databricks, signed',
    (text, isLast = true) => ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text, ...(isLast ? { signature: 'EqoB' } : {}) }],
    }),
  ],
  ['Mistral', (text) => ({ type: 'thinking', thinking: texts(text) })],
  [
    'Mistral, with references',
    (text) => ({ type: 'thinking', thinking: [...texts(text), { type: 'reference', reference_ids: [1] }] }),
  ],
  ['Claude behind a proxy', (text) => ({ type: 'thinking', thinking: text, signature: '' })],
  [
    'Claude behind a proxy, signed',
    (thinking, isLast = true) => ({ type: 'thinking', thinking, signature: isLast ? 'EqoB' : '' }),
  ],
  ['a proxy, as a record', (text) => ({ type: 'reasoning', reasoning: { content: text } })],
  ['a proxy, as a text', (text) => ({ type: 'reasoning', text })],
  ['a proxy, under its own name', (text) => ({ type: 'reasoning', reasoning: text })],
  [
    'responses behind a proxy',
    (text) => ({ type: 'reasoning', summary: [], content: texts(text, 'reasoning_text') }),
  ],
];

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'x',
  choices: [{ index: 0, delta, finish_reason }],
});

describe.each(parts)('reasoning in a part, as %s writes it', (_vendor, part) => {
  const content = [part(THOUGHT), ...texts(TEXT)];
  const isSigned = JSON.stringify(content).includes('EqoB');
  const answer: Answer = {
    events: [
      chunk({ role: 'assistant', content: [part('Two towns', false)] }),
      chunk({ content: [part(' to check.')] }),
      chunk({ content: texts('Rain') }),
      chunk({ content: ' by noon.' }),
      chunk({ content: '' }, 'stop'),
    ],
    whole: {
      id: 'x',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    },
  };

  it('is reasoning in an answer that is put together', () => {
    const assembly = callFormats.chat.openAssembly();
    for (const event of answer.events) assembly.read(Buffer.from(JSON.stringify(event)), '');
    const { reasoning_details, ...message } = JSON.parse(assembly.answer()?.toString() ?? '').choices[0]
      .message;
    expect(message).toEqual({ role: 'assistant', content: TEXT, refusal: null, reasoning: THOUGHT });
    expect(reasoning_details?.map(({ signature }: { signature: string }) => signature)).toEqual(
      isSigned ? ['EqoB'] : undefined,
    );
  });

  it.each([
    ['JSON of JSON', shownWhole],
    ['JSON of a stream', shownCollected],
    ['a stream', shownStream],
  ] as const)('is reasoning in the other formats: %s', (_way, shown) => {
    expect(shown('chat', 'messages', answer).content).toMatchObject([
      { type: 'thinking', thinking: THOUGHT },
      { type: 'text', text: TEXT },
    ]);
    const [item, message] = shown('chat', 'responses', answer).output as Record<string, unknown>[];
    expect(JSON.stringify(item)).toContain(THOUGHT);
    expect(message).toMatchObject({ content: [{ type: 'output_text', text: TEXT }] });
  });

  it('is counted as a part of the answer', () => {
    const whole = new AnswerText();
    addChat(whole, JSON.parse(JSON.stringify(answer.whole)));
    const streamed = new AnswerText();
    for (const event of answer.events) addChat(streamed, JSON.parse(JSON.stringify(event)));
    expect([whole.bytes, streamed.bytes]).toEqual([
      THOUGHT.length + TEXT.length,
      THOUGHT.length + TEXT.length,
    ]);
  });

  it('is taken back in the next turn, by servers of every format', () => {
    const messages = [user, { role: 'assistant', content }, user];
    expect(sentTo('chat', 'chat', { messages }).messages).toMatchObject([
      user,
      { role: 'assistant', content: TEXT, reasoning_content: THOUGHT },
      user,
    ]);
    expect(JSON.stringify(sentTo('chat', 'messages', { messages, max_tokens: 10 }))).toContain(TEXT);
  });

  it('comes back to its server signed as it was, whichever way its caller got it', () => {
    const assembly = callFormats.chat.openAssembly();
    for (const event of answer.events) assembly.read(Buffer.from(JSON.stringify(event)), '');
    const { message } = JSON.parse(assembly.answer()?.toString() ?? '').choices[0];
    expect(fitAnswers([message], dialects.other)[0]).toMatchObject(
      isSigned ? { role: 'assistant', content } : { content: TEXT, reasoning: THOUGHT },
    );
    expect(JSON.stringify(fitAnswers([message], dialects.groq))).not.toContain('EqoB');
  });

  it('goes to no server that does not know such parts', () => {
    const dialect = {
      answerMembers: new Set(['role', 'content']),
      answerParts: new Set<string>(),
      reasoningMember: 'reasoning_content' as const,
      signsCalls: false,
      takesThinkingParts: false,
      takesReasoningDetails: false,
      callIds: {},
    };
    expect(fitAnswers([{ role: 'assistant', content }], dialect)).toEqual([
      { role: 'assistant', content: texts(TEXT), reasoning_content: THOUGHT },
    ]);
  });
});

it('reasoning in a part of an earlier answer counts as a part of the prompt', () => {
  const bytesOf = (content: unknown) => promptTextBytes({ messages: [{ role: 'assistant', content }] });
  const part = { type: 'reasoning', summary: texts(THOUGHT, 'summary_text') };
  expect(bytesOf([part, ...texts(TEXT)])).toBe(THOUGHT.length + TEXT.length);
});
