import { describe, expect, it } from 'vitest';
import { endOfMessage, messageWordOf } from '../../api/inference/formats/end-words.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* Servers of chats have an address for messages, too, and end them by their own words, which clients do not know. */

const CUT = [
  'length',
  'MAX_TOKENS',
  'max_output_tokens',
  'aborted',
  'model_length',
  'insufficient_system_resource',
];
const WITHHELD = ['content_filter', 'sensitive', 'SAFETY', 'guardrail_intervened'];

const TEXT = { type: 'text', text: 'Rain' };
const CALL = { type: 'tool_use', id: 't', name: 'f', input: {} };

function messageOf(block: object, stop_reason: string): Answer {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'c' };
  const usage = { input_tokens: 3, output_tokens: 2 };
  return {
    events: [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
    whole: { ...message, content: [block], stop_reason, stop_sequence: null, usage },
  };
}

function expectEnd(answer: Answer, chat: string, reason: string | null): void {
  for (const shown of [shownWhole, shownCollected, shownStream]) {
    expect(shown('messages', 'chat', answer)).toMatchObject({ choices: [{ finish_reason: chat }] });
    expect(shown('messages', 'responses', answer)).toMatchObject(
      reason === null
        ? { status: 'completed', incomplete_details: null }
        : { status: 'incomplete', incomplete_details: { reason } },
    );
  }
}

describe('a message that ends by a word of another format', () => {
  it.each(CUT)('%s is told as cut', (word) => {
    expectEnd(messageOf(TEXT, word), 'length', 'max_output_tokens');
    expect(messageWordOf(word)).toBe('max_tokens');
  });

  it.each(WITHHELD)('%s is told as withheld', (word) => {
    expectEnd(messageOf(TEXT, word), 'content_filter', 'content_filter');
    expect(messageWordOf(word)).toBe('refusal');
  });

  it.each(['tool_calls', 'end_turn', 'stop'])('%s is told as one that calls, where it does', (word) => {
    expectEnd(messageOf(CALL, word), 'tool_calls', null);
  });

  it('stop is told as a turn that has ended', () => {
    expectEnd(messageOf(TEXT, 'stop'), 'stop', null);
    expect(messageWordOf('stop')).toBe('end_turn');
  });
});

it('the words of the format are shown as they came, and so is one that nobody knows yet', () => {
  const own = ['end_turn', 'stop_sequence', 'pause_turn', 'compaction', 'max_tokens', 'tool_use', 'refusal'];
  for (const word of [...own, 'model_context_window_exceeded', 'a_word_of_tomorrow'])
    expect(messageWordOf(word)).toBeNull();
  expect(endOfMessage('pause_turn', true)).toBe('stop');
  expect(endOfMessage('a_word_of_tomorrow', false)).toBe('stop');
});
