import { describe, expect, it } from 'vitest';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { eventsOfAnswer } from '../../api/inference/formats/events-of-answer.ts';
import { fitAnswers } from '../../api/inference/formats/fit-history.ts';
import { recordOf } from '../../api/inference/formats/values.ts';
import { AnswerText, addChat } from '../../api/inference/price/answer-text.ts';
import { promptTextBytes } from '../../api/inference/price/prompt-text.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { eventsOf } from '../recordings/player.ts';
import { user } from './ask.ts';
import { eventOf, passedStream, UPSTREAM_MODEL } from './passed-stream.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* Servers have many names for the reasoning of a message. Under each of them it is shown, and counted, once. */

const THOUGHT = 'Two towns to check.';
const TEXT = 'Rain by noon.';
const block = (thinking: string) => ({ type: 'thinking', thinking, signature: '' });

/** The members in which servers have a piece of reasoning, or all of it. */
const names: [string, (text: string) => object][] = [
  ['reasoning', (reasoning) => ({ reasoning })],
  ['reasoning_content', (reasoning_content) => ({ reasoning_content })],
  ['reasoning_text', (reasoning_text) => ({ reasoning_text })],
  ['thinking', (thinking) => ({ thinking })],
  ['cot_summary', (cot_summary) => ({ cot_summary })],
  ['reasoning_content and reasoning', (text) => ({ reasoning_content: text, reasoning: text })],
  [
    'all names',
    (text) => ({ thinking: text, reasoning_text: text, reasoning: text, reasoning_content: text }),
  ],
  ['blocks', (text) => ({ thinking_blocks: [block(text)] })],
  ['a name and blocks', (text) => ({ reasoning_content: text, thinking_blocks: [block(text)] })],
  [
    'blocks, twice',
    (text) => ({
      reasoning_content: text,
      thinking_blocks: [block(text)],
      provider_specific_fields: { thinking_blocks: [block(text)] },
    }),
  ],
  [
    'blocks among the fields of a vendor',
    (text) => ({ provider_specific_fields: { thinking_blocks: [block(text)] } }),
  ],
];

const frame = { id: 'x', object: 'chat.completion.chunk', created: 1, model: UPSTREAM_MODEL };
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  ...frame,
  choices: [{ index: 0, delta, finish_reason, ...more }],
});

describe.each(names)('reasoning under %s', (_name, said) => {
  const message = { role: 'assistant', content: TEXT, ...said(THOUGHT) };
  const answer: Answer = {
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk(said('Two towns')),
      chunk(said(' to check.')),
      chunk({ content: TEXT }),
      chunk({}, 'stop'),
    ],
    whole: { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] },
  };
  const bytesOf = (values: readonly object[]): number => {
    const text = new AnswerText();
    for (const value of values) addChat(text, JSON.parse(JSON.stringify(value)));
    return text.bytes;
  };

  it.each([
    ['JSON of JSON', shownWhole],
    ['JSON of a stream', shownCollected],
    ['a stream', shownStream],
  ] as const)('is shown once in the other formats: %s', (_way, shown) => {
    expect(shown('chat', 'messages', answer).content).toMatchObject([
      { type: 'thinking', thinking: THOUGHT },
      { type: 'text', text: TEXT },
    ]);
    expect(shown('chat', 'responses', answer).output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: THOUGHT }] },
      { type: 'message', content: [{ text: TEXT }] },
    ]);
  });

  it('is counted once, whichever way the answer comes', () => {
    const bytes = THOUGHT.length + TEXT.length;
    const written = eventsOfAnswer('chat', Buffer.from(JSON.stringify(answer.whole)))?.toString() ?? '';
    expect([bytesOf([answer.whole]), bytesOf(answer.events), bytesOf(eventsOf(written))]).toEqual([
      bytes,
      bytes,
      bytes,
    ]);
  });

  it('is counted once in a stream that passes', () => {
    const stream = callFormats.chat.openStream({ upstreamModel: 'm', publicModel: 'm', showUsage: true });
    for (const event of answer.events) stream.text.addEvent(Buffer.from(JSON.stringify(event)));
    for (const piece of ['a', 'bc', 'def'])
      stream.text.addEvent(Buffer.from(JSON.stringify(chunk(said(piece)))));
    expect(stream.text.bytes).toBe(THOUGHT.length + TEXT.length + 'abcdef'.length);
  });

  it('passes as it came to a caller of the same format', async () => {
    const passed = answer.events.map((event) => eventOf(JSON.stringify(event))).join('');
    expect(await passedStream(answer.events)).toBe(`${passed}data: [DONE]\n\n`);
    const assembly = callFormats.chat.openAssembly();
    for (const event of answer.events) assembly.read(Buffer.from(JSON.stringify(event)), '');
    const [choice] = JSON.parse(assembly.answer()?.toString() ?? '').choices;
    expect(choice.message).toMatchObject(message);
  });

  it('counts once as a part of the next prompt', () => {
    expect(promptTextBytes({ messages: [message] })).toBe(THOUGHT.length + TEXT.length);
  });

  it('comes back in the next turn under the name that its server takes', () => {
    expect(fitAnswers([user, message], dialects.groq)).toEqual([
      user,
      { role: 'assistant', content: TEXT, reasoning: THOUGHT },
    ]);
  });
});

describe('reasoning that a server repeats under another name', () => {
  const whole = { role: 'assistant', content: TEXT, reasoning_text: THOUGHT };
  const answer: Answer = {
    events: [
      chunk({ role: 'assistant', reasoning_content: THOUGHT }),
      chunk({ content: TEXT }),
      chunk({}, 'stop', { message: whole }),
    ],
    whole: {},
  };

  it('is said once in the JSON of its stream', () => {
    const assembly = callFormats.chat.openAssembly();
    for (const event of answer.events) assembly.read(Buffer.from(JSON.stringify(event)), '');
    expect(assembly.answer()?.toString().split(THOUGHT)).toHaveLength(2);
  });

  it('is said once in the stream, and in other formats', async () => {
    expect((await passedStream(answer.events)).split(THOUGHT)).toHaveLength(2);
    expect(JSON.stringify(shownStream('chat', 'messages', answer).content).split(THOUGHT)).toHaveLength(2);
  });
});

describe('blocks of LiteLLM in pieces', () => {
  const signed = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature });
  const said = (one: object) => ({
    thinking_blocks: [one],
    provider_specific_fields: { thinking_blocks: [one] },
  });
  const redacted = { type: 'redacted_thinking', data: 'Rd==' };

  it('are whole in the JSON of their stream, each with its signature', () => {
    const assembly = callFormats.chat.openAssembly();
    const pieces = [
      signed('Two towns', ''),
      signed(' to check.', ''),
      signed('', 'S1=='),
      redacted,
      signed('And a third.', ''),
      signed('', 'S2=='),
    ];
    for (const piece of pieces) assembly.read(Buffer.from(JSON.stringify(chunk(said(piece)))), '');
    const [choice] = JSON.parse(assembly.answer()?.toString() ?? '').choices;
    const blocks = [signed(THOUGHT, 'S1=='), redacted, signed('And a third.', 'S2==')];
    expect(choice.message.thinking_blocks).toEqual(blocks);
    expect(recordOf(choice.message.provider_specific_fields).thinking_blocks).toEqual(blocks);
  });
});

it.each(['reasoning_opaque', 'signature', 'thinking_blocks'])(
  'a whole answer of long reasoning as a stream is signed behind all of it: %s',
  (name) => {
    const thinking = 'Two towns to check. '.repeat(10_000);
    const signed =
      name === 'thinking_blocks'
        ? { reasoning_content: thinking, thinking_blocks: [{ type: 'thinking', thinking, signature: 'S==' }] }
        : { thinking, [name]: 'S==' };
    const message = { role: 'assistant', content: TEXT, ...signed };
    const whole = { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const written = eventsOfAnswer('chat', Buffer.from(JSON.stringify(whole)))?.toString() ?? '';
    const streamed = shownCollected('chat', 'messages', { events: eventsOf(written), whole });
    expect(streamed).toEqual(shownWhole('chat', 'messages', { events: [], whole }));
    expect(JSON.stringify(streamed).split('S==')).toHaveLength(2);
  },
);

it('a signature beside an answer that has no reasoning is none of its reasoning', () => {
  const message = { role: 'assistant', content: TEXT, signature: 'MEUCIQ==' };
  const whole = { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  expect(shownWhole('chat', 'messages', { events: [], whole }).content).toMatchObject([
    { type: 'text', text: TEXT },
  ]);
});
