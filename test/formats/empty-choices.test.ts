import { describe, expect, it } from 'vitest';
import { isErrorEvent } from '../../api/inference/formats/chat-answer.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { answerBounds, readJsonObject } from '../../api/inference/json/json-object.ts';

/* An error that a server tells beside a list of no choices is told like one without the list. */

const WORDS = 'cannot reach http://10.1.2.3:8443 with sk-prov-Zx81kQpLm29vTT07, see /srv/llm/run.py';
const frame = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' };

const errors: [string, object][] = [
  ['a code and a message', { code: 11200, message: WORDS }],
  ['a message alone', { message: WORDS }],
  ['a detail', { detail: WORDS }],
  ['a list of details', { detail: [{ msg: WORDS }] }],
  ['a fault', { fault: { faultstring: WORDS } }],
  ['an exception', { exception: WORDS, traceback: WORDS }],
  ['no success', { success: false, msg: WORDS }],
  ['a status and its message', { status_code: 500, status_msg: WORDS }],
  ['a message by another case', { Message: WORDS }],
  ['a code that is a text', { code: 'InternalError', message: WORDS }],
];
const noErrors: [string, object][] = [
  ['nothing else', {}],
  ['the first chunk of Azure', { id: '', object: '', created: 0, model: '', prompt_filter_results: [] }],
  [
    'the filter of Azure that did not run',
    {
      prompt_filter_results: [
        {
          prompt_index: 0,
          content_filter_results: { error: { code: 'content_filter_error', message: 'x' } },
        },
      ],
    },
  ],
  ['a usage record', { usage: { prompt_tokens: 1, completion_tokens: 2 } }],
  ['a good code', { code: 0, message: 'Success', sid: 'x' }],
  ['a good status', { status_code: 0, status_msg: 'success' }],
  ['empty errors', { error: null, errors: [], detail: null, message: '', msg: '', success: true }],
];

function readOf(body: object): { isEvent: boolean; kind: string } {
  const data = Buffer.from(JSON.stringify(body));
  const read = readJsonObject(data, answerBounds);
  if (typeof read === 'string') throw new Error(read);
  return {
    isEvent: isErrorEvent(data, read.object),
    kind: chatFormat.readAnswer(read.object, read.value).kind,
  };
}

describe('beside an empty list of choices', () => {
  it.each(errors)('%s is an error', (_name, told) => {
    expect(readOf({ ...frame, choices: [], ...told })).toEqual({ isEvent: true, kind: 'error' });
  });

  it.each(noErrors)('%s is no error', (_name, told) => {
    expect(readOf({ ...frame, choices: [], ...told })).toEqual({ isEvent: false, kind: 'answer' });
  });
});
