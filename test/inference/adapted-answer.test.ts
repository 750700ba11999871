import { describe, expect, it } from 'vitest';
import type { AnswerAdapter } from '#core/catalog/provider-kind.ts';
import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import { AdaptedAnswer } from '../../api/inference/upstream/adapted-answer.ts';
import { fakeUpstream } from './fake-ends.ts';

/** Turns every byte into upper case, but for what a test changes. */
function startAdapted(change: Partial<AnswerAdapter> = {}) {
  const { upstream, controller } = fakeUpstream();
  const adapter: AnswerAdapter = {
    begin: (_status, headers) => ({ ...headers, 'content-type': 'text/event-stream' }),
    data: (chunk) => Buffer.from(chunk.toString().toUpperCase()),
    end: () => Buffer.from('!'),
    ...change,
  };
  const answer = new AdaptedAnswer(upstream, adapter);
  const heard: string[] = [];
  upstream.pipeTo({
    data: (bytes) => void heard.push(bytes.toString()),
    end: () => void heard.push('end'),
    fail: (cause) => void heard.push(cause),
  });
  answer.onRequestStart(controller);
  return { upstream, controller, answer, heard };
}

const broken = () => {
  throw new Error('no frame');
};

describe('an answer that its kind of provider turns into another format', () => {
  it('comes as the adapter turns it, under the headers that the adapter names', () => {
    const { upstream, controller, answer, heard } = startAdapted();
    answer.onResponseStart(controller, 200, {
      'content-type': 'application/x-frames',
      'x-generation-id': 'g',
    });
    answer.onResponseData(controller, Buffer.from('a'));
    answer.onResponseEnd();
    expect(heard).toEqual(['A', '!', 'end']);
    expect(upstream.headers).toEqual({ 'content-type': 'text/event-stream', 'x-generation-id': 'g' });
  });

  it('has not begun with early hints', () => {
    const { upstream, controller, answer } = startAdapted({ begin: broken });
    answer.onResponseStart(controller, 103, {});
    expect([upstream.status, upstream.ended]).toEqual([0, false]);
  });

  it.each<[string, Partial<AnswerAdapter>]>([
    ['its head', { begin: broken }],
    ['a part', { data: broken }],
    ['its end', { end: broken }],
  ])('is cut off, and its connection closed, where the adapter cannot read %s', (_, change) => {
    const { controller, answer, heard } = startAdapted(change);
    answer.onResponseStart(controller, 200, {});
    answer.onResponseData(controller, Buffer.from('a'));
    answer.onResponseData(controller, Buffer.from('b'));
    answer.onResponseEnd();
    answer.onResponseError(controller, new Error('reset'));
    expect(heard.at(-1)).toBe('cut');
    expect(heard.filter((each) => each === 'cut' || each === 'end')).toHaveLength(1);
    expect(controller.aborted).toBe(true);
  });

  it('is cut off where the adapter takes bytes without end and returns none', () => {
    const { controller, answer, heard } = startAdapted({ data: () => Buffer.alloc(0) });
    answer.onResponseStart(controller, 200, {});
    const part = Buffer.alloc(JSON_ANSWER_BYTES / 4);
    for (let i = 0; i < 4; i++) answer.onResponseData(controller, part);
    expect(heard).toEqual([]);
    answer.onResponseData(controller, Buffer.from('a'));
    expect(heard).toEqual(['cut']);
  });
});
