import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { GATE_BUFFER_BYTES } from '#core/limits.ts';
import { collectAnswer } from '../../api/inference/upstream/collect-answer.ts';
import type {
  AnswerReceiver,
  Started,
  UpstreamRequest,
} from '../../api/inference/upstream/upstream-request.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { fakeUpstream } from './fake-ends.ts';

const chunk = (text: string) => Buffer.from(text);

/** What `started` says by now, or `waiting`. */
async function startedBy(upstream: UpstreamRequest): Promise<Started | 'waiting'> {
  return await Promise.race([upstream.started, Promise.resolve('waiting' as const)]);
}

function recordingSink(): AnswerReceiver & { heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    data: (bytes) => void heard.push(bytes.toString()),
    end: () => void heard.push('end'),
    fail: (cause) => void heard.push(cause),
  };
}

describe('a provider’s answer', () => {
  it('has started with its first byte, not with its headers', async () => {
    const { upstream, controller } = fakeUpstream();
    expect(await startedBy(upstream)).toBe('waiting');
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, { 'x-generation-id': 'gen-1' });
    expect(await startedBy(upstream)).toBe('waiting');
    upstream.onResponseData(controller, chunk('a'));
    expect(await startedBy(upstream)).toEqual({ ok: true });
    expect([upstream.status, upstream.headers['x-generation-id']]).toEqual([200, 'gen-1']);
  });

  it('has started with its end, where it is empty', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 204, {});
    upstream.onResponseEnd();
    expect(await startedBy(upstream)).toEqual({ ok: true });
    const sink = recordingSink();
    upstream.pipeTo(sink);
    expect(sink.heard).toEqual(['end']);
  });

  it('is not the early hints before it', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 103, { link: 'x' });
    expect([upstream.status, upstream.headers]).toEqual([0, {}]);
    upstream.onResponseError(controller, new Error('reset'));
    expect(await startedBy(upstream)).toEqual({ ok: false, cause: 'unreachable' });
  });

  it.each([
    ['before its status line', 0, 'unreachable'],
    ['between its headers and its first byte', 200, 'cut'],
  ])('that breaks %s never started', async (_when, status, cause) => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    if (status > 0) upstream.onResponseStart(controller, status, {});
    upstream.onResponseError(controller, new Error('reset'));
    expect(await startedBy(upstream)).toEqual({ ok: false, cause });
  });

  it('that breaks after its first byte has started, and tells its reader', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    upstream.onResponseData(controller, chunk('a'));
    upstream.onResponseError(controller, new Error('reset'));
    expect(await startedBy(upstream)).toEqual({ ok: true });
    const sink = recordingSink();
    upstream.pipeTo(sink);
    expect(sink.heard).toEqual(['a', 'cut']);
  });

  it('that no connection was ever made for is unreachable', async () => {
    const { upstream } = fakeUpstream();
    upstream.onResponseError(null, new Error('no connection'));
    expect(await startedBy(upstream)).toEqual({ ok: false, cause: 'unreachable' });
  });

  it('stays paused for a reader that asks for it at the first bytes', () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    upstream.onResponseData(controller, Buffer.alloc(GATE_BUFFER_BYTES + 1));
    expect(controller.paused).toBe(true);
    upstream.pipeTo({ ...recordingSink(), data: () => upstream.pause() });
    expect(controller.paused).toBe(true);
    upstream.resume();
    expect(controller.paused).toBe(false);
  });

  it('waits for its reader, whole and in order, and is paused at 64 KiB', () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    const part = 'x'.repeat(16_384);
    for (let sent = 0; sent < GATE_BUFFER_BYTES; sent += part.length) {
      expect(controller.paused).toBe(false);
      upstream.onResponseData(controller, chunk(part));
    }
    upstream.onResponseData(controller, chunk('last'));
    expect(controller.paused).toBe(true);
    const sink = recordingSink();
    upstream.pipeTo(sink);
    expect(sink.heard.join('')).toBe(`${part.repeat(4)}last`);
    expect(controller.paused).toBe(false);
    upstream.onResponseData(controller, chunk('more'));
    upstream.onResponseEnd();
    expect(sink.heard.slice(-2)).toEqual(['more', 'end']);
    expect(upstream.bytesReceived).toBe(GATE_BUFFER_BYTES + 8);
  });

  it('ends once, whatever comes after', () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    const sink = recordingSink();
    upstream.pipeTo(sink);
    upstream.onResponseStart(controller, 200, {});
    upstream.onResponseEnd();
    upstream.onResponseError(controller, new Error('late'));
    upstream.abort();
    expect(sink.heard).toEqual(['end']);
    expect(controller.asked).toEqual(['resume']);
  });
});

describe('ending a request ourselves', () => {
  it('works while it runs', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    upstream.onResponseData(controller, chunk('a'));
    const sink = recordingSink();
    upstream.pipeTo(sink);
    upstream.abort();
    upstream.abort();
    expect(controller.asked.filter((each) => each === 'abort')).toHaveLength(1);
    expect(sink.heard).toEqual(['a', 'aborted']);
  });

  it('works before there is a connection, and ends the connection that comes later', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.abort();
    expect(await startedBy(upstream)).toEqual({ ok: false, cause: 'aborted' });
    upstream.onRequestStart(controller);
    expect(controller.aborted).toBe(true);
    expect([upstream.ended, upstream.sent]).toEqual([true, false]);
  });

  it('works between the connection and the status line', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.abort();
    expect(await startedBy(upstream)).toEqual({ ok: false, cause: 'aborted' });
  });
});

describe('an answer that nobody reads any more', () => {
  const startAnswer = () => {
    const ends = { ...fakeUpstream(), clock: createFakeClock() };
    ends.upstream.onRequestStart(ends.controller);
    ends.upstream.onResponseStart(ends.controller, 200, {});
    ends.upstream.onResponseData(ends.controller, chunk('a'));
    return ends;
  };

  it('may end its response where it was whole, and its connection is kept', () => {
    const { upstream, controller, clock } = startAnswer();
    const sink = recordingSink();
    upstream.pipeTo(sink);
    upstream.pause();
    upstream.markWhole();
    upstream.leave(clock);
    expect(controller.paused).toBe(false);
    upstream.onResponseData(controller, chunk('behind the end mark'));
    upstream.onResponseEnd();
    clock.advance(MINUTE_MS);
    expect([controller.aborted, sink.heard, clock.pendingTimers()]).toEqual([false, ['a'], 0]);
  });

  it('is ended where its response goes on for a quarter of a second', () => {
    const { upstream, controller, clock } = startAnswer();
    upstream.markWhole();
    upstream.leave(clock);
    clock.advance(249);
    expect(controller.aborted).toBe(false);
    clock.advance(1);
    expect(controller.aborted).toBe(true);
  });

  it('is ended at once where it was not whole', () => {
    const { upstream, controller, clock } = startAnswer();
    upstream.leave(clock);
    expect([controller.aborted, clock.pendingTimers()]).toEqual([true, 0]);
  });
});

describe('a whole answer', () => {
  it('is put together from its pieces', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    upstream.onResponseData(controller, chunk('a'));
    const collected = collectAnswer(upstream, 10);
    upstream.onResponseData(controller, chunk('b'));
    upstream.onResponseEnd();
    expect(await collected).toEqual({ ok: true, bytes: chunk('ab') });
  });

  it('is empty where nothing came', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    upstream.onResponseEnd();
    expect(await collectAnswer(upstream, 10)).toEqual({ ok: true, bytes: Buffer.alloc(0) });
  });

  it('is read no further than allowed', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    const collected = collectAnswer(upstream, 3);
    upstream.onResponseData(controller, chunk('abc'));
    expect(controller.aborted).toBe(false);
    upstream.onResponseData(controller, chunk('d'));
    expect(await collected).toEqual({ ok: false, cause: 'too_large', bytesRead: 4 });
    expect(controller.aborted).toBe(true);
  });

  it('is none where it broke off', async () => {
    const { upstream, controller } = fakeUpstream();
    upstream.onRequestStart(controller);
    upstream.onResponseStart(controller, 200, {});
    const collected = collectAnswer(upstream, 10);
    upstream.onResponseData(controller, chunk('a'));
    upstream.onResponseError(controller, new Error('reset'));
    expect(await collected).toEqual({ ok: false, cause: 'cut', bytesRead: 1 });
  });
});
