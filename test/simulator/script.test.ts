import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';
import { errorStatuses, manyByteText, oddStreams } from '../support/script-faults.ts';
import { dataEvents, type RawAnswer, rawCall, streamText } from './raw-call.ts';

const chat = (more: object = {}) => ({
  model: 'faregate-sim/small',
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});
const streamed = chat({ stream: true });
const chatUrl = (provider: TestProvider): string => `${provider.baseUrl}/chat/completions`;

/** What one call gets that follows this rule. */
async function answerTo(rule: ScriptRule, body: unknown = chat()): Promise<RawAnswer> {
  await using provider = await startTestProvider();
  provider.next(rule);
  return await rawCall(chatUrl(provider), body).answer;
}

test('rules are followed in line, each for its number of calls', async () => {
  await using provider = await startTestProvider();
  provider.next({ status: 201, times: 2 }, { status: 202 });
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push((await rawCall(chatUrl(provider), chat()).answer).status);
  expect(statuses).toEqual([201, 201, 202, 200]);
});

test('a rule waits for the model or the words that it names', async () => {
  await using provider = await startTestProvider();
  provider.always({ model: 'faregate-sim/large:nitro', status: 201 });
  provider.always({ prefix: '[cut]', status: 202 });
  const status = async (model: string, content: string) =>
    (await rawCall(chatUrl(provider), { model, messages: [{ role: 'user', content }] }).answer).status;
  expect(await status('faregate-sim/large', 'Hi')).toBe(200);
  expect(await status('faregate-sim/large:nitro', 'Hi')).toBe(201);
  expect(await status('faregate-sim/small', '[cut] Hi')).toBe(202);
  expect(await status('faregate-sim/small', 'Hi [cut]')).toBe(200);
});

test('a rule may speak of another path', async () => {
  await using provider = await startTestProvider();
  provider.next({ path: '/models', status: 500, error: { style: 'html' } });
  expect((await rawCall(chatUrl(provider), chat()).answer).status).toBe(200);
  expect((await fetch(`${provider.baseUrl}/models`)).status).toBe(500);
  expect((await fetch(`${provider.baseUrl}/models`)).status).toBe(200);
});

test('a rule that is none is refused at once', async () => {
  await using provider = await startTestProvider();
  const misspelt: object = { cutsAt: 3 };
  expect(() => provider.next(misspelt)).toThrow(/cutsAt/);
  expect(() => provider.next({ headers: { 'x-a': 'b\r\nx-c: d' } })).toThrow(/No header/);
  expect(() => provider.next({ billUsd: 'ten' })).toThrow(/No decimal/);
});

test.each(errorStatuses)('status %i comes with the body of any kind of server', async (status) => {
  const bodies: Record<string, unknown> = {};
  for (const style of ['openrouter', 'availability', 'openai', 'google', 'flat', 'string'] as const) {
    const answer = await answerTo({ status, error: { style, message: 'Sorry' } });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json');
    bodies[style] = JSON.parse(answer.text);
  }
  expect(bodies.openrouter).toMatchObject({
    error: { code: status, message: 'Sorry', metadata: { error_type: expect.any(String) } },
  });
  expect(bodies.availability).toMatchObject({
    error: { http_status: status, availability: { retryable: true } },
  });
  expect(bodies.openai).toMatchObject({ error: { message: 'Sorry', param: null } });
  expect(bodies.google).toMatchObject([{ error: { code: status } }]);
  expect(bodies.flat).toMatchObject({ object: 'error', code: status });
  expect(bodies.string).toEqual({ error: 'Sorry' });
});

test('an error may be a page, a word or nothing, with headers of its own', async () => {
  expect(await answerTo({ status: 502, error: { style: 'html' } })).toMatchObject({
    headers: { 'content-type': 'text/html; charset=utf-8' },
    text: expect.stringContaining('<h1>'),
  });
  expect((await answerTo({ status: 500, error: { style: 'text', message: 'Down' } })).text).toBe('Down');
  expect(
    await answerTo({ status: 503, error: { style: 'empty' }, headers: { 'retry-after': '7' } }),
  ).toMatchObject({
    text: '',
    headers: { 'retry-after': '7', 'content-length': '0' },
  });
});

test('200 may carry an error, at the top, in the choice or in the stream', async () => {
  const top = await answerTo({ status: 200, error: { code: 502, type: 'provider_unavailable' } });
  expect(JSON.parse(top.text)).toMatchObject({ error: { code: 502 } });
  const choice = await answerTo({ error: { at: 'choice', code: 'server_error' } });
  expect(choice.status).toBe(200);
  expect(JSON.parse(choice.text).choices[0]).toMatchObject({
    finish_reason: 'error',
    error: { code: 'server_error' },
  });
  const stream = await answerTo({ chunks: 9, error: { at: 'stream', afterChunks: 4 } }, streamed);
  const events = dataEvents(stream.text);
  // The role, four chunks, the error; and no end.
  expect(events).toHaveLength(6);
  expect(events[5]).toMatchObject({
    error: { code: 502, message: expect.any(String), metadata: { error_type: 'provider_unavailable' } },
    choices: [{ delta: { content: '' }, finish_reason: 'error' }],
  });
  expect(stream.text).not.toContain('[DONE]');
  expect(stream.ending).toBe('whole');
});

test.each([
  ['rst', 0],
  ['rst', 300],
  ['fin', 0],
  ['fin', 300],
] as const)('a connection is cut by %s after exactly %i bytes', async (cutWith, cutAt) => {
  for (const body of [chat(), streamed]) {
    const answer = await answerTo({ cutWith, cutAt }, body);
    expect(answer.status).toBe(200);
    expect(Buffer.concat(answer.chunks)).toHaveLength(cutAt);
    expect(answer.ending).toBe('ECONNRESET');
  }
});

test('a connection may end before any header, and before the request was read', async () => {
  for (const rule of [
    { cutAt: 'headers' },
    { cutAt: 'headers', cutWith: 'fin' },
    { request: 'close' },
  ] as const) {
    expect(await answerTo(rule)).toMatchObject({ status: 0, ending: 'ECONNRESET' });
  }
});

test('a request that is too large may be refused before it was read', async () => {
  const answer = await answerTo({ request: 'answer_early' }, chat({ padding: 'x'.repeat(4_000_000) }));
  expect(answer.status).toBe(413);
});

test('a request may be left unread and unanswered', async () => {
  await using provider = await startTestProvider();
  provider.next({ request: 'ignore' });
  const call = rawCall(chatUrl(provider), chat({ padding: 'x'.repeat(8_000_000) }));
  await provider.until(() => provider.requests().length === 1);
  expect(provider.lastRequest()).toMatchObject({ state: 'open', body: Buffer.alloc(0) });
  call.hangUp();
  expect(await call.answer).toMatchObject({ status: 0 });
});

test.each([
  ['headers', 0],
  [0, 0],
  [250, 250],
] as const)('a call waits at its gate (%s) after %i bytes until it is released', async (gateAt, bytes) => {
  await using provider = await startTestProvider();
  provider.next({ gate: 'shut', gateAt });
  let arrived = 0;
  const call = rawCall(chatUrl(provider), streamed, (sum) => {
    arrived = sum;
  });
  await provider.reached('shut');
  while (arrived < bytes) await new Promise(setImmediate);
  expect(arrived).toBe(bytes);
  expect(provider.lastRequest().state).toBe('open');
  provider.release('shut');
  const answer = await call.answer;
  expect(answer).toMatchObject({ status: 200, ending: 'whole' });
  expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true);
});

test('a gate that was opened stays open', async () => {
  await using provider = await startTestProvider();
  provider.release('open');
  provider.next({ gate: 'open' });
  expect((await rawCall(chatUrl(provider), chat()).answer).status).toBe(200);
});

test.each(['headers', 0, 300] as const)(
  'a stalled call (%s) stays silent and open until its reader leaves',
  async (stallAt) => {
    await using provider = await startTestProvider();
    provider.next({ stallAt, text: manyByteText });
    let bytes = 0;
    const call = rawCall(chatUrl(provider), streamed, (sum) => {
      bytes = sum;
    });
    await provider.until(() => provider.requests().length === 1);
    const another = await rawCall(chatUrl(provider), chat()).answer;
    expect(another.status).toBe(200);
    expect(provider.requests()[0]?.state).toBe('open');
    expect(bytes).toBeLessThanOrEqual(stallAt === 'headers' ? 0 : stallAt);
    call.hangUp();
    await provider.ended(2);
    expect(provider.requests()[0]?.state).toBe('hung_up');
  },
);

test('delays run on the clock that the test moves', async () => {
  const clock = createFakeClock();
  await using provider = await startTestProvider({ clock });
  provider.next({ headersDelayMs: 50_000, firstByteDelayMs: 5_000, gapMs: 1_000, chunks: 2, comments: 0 });
  const call = rawCall(chatUrl(provider), streamed);
  await provider.until(() => provider.requests().length === 1);
  let done = false;
  void call.answer.then(() => {
    done = true;
  });
  let advancedMs = 0;
  while (!done) {
    if (clock.pendingTimers() > 0) {
      clock.advance(1_000);
      advancedMs += 1_000;
    }
    await new Promise(setImmediate);
  }
  // Role, two chunks, finish, usage and DONE are six writes with five gaps.
  expect(advancedMs).toBe(60_000);
});

test('a written byte is a chunk of its own when the rule says so', async () => {
  const answer = await answerTo({ writeBytes: 1, text: 'é🚇' }, chat());
  expect(answer.chunks.length).toBeGreaterThan(Buffer.byteLength(answer.text) / 4);
  expect(JSON.parse(answer.text).choices[0].message.content).toBe('é🚇');
});

test('writes end where the rule splits them, in the middle of a letter too', async () => {
  const whole = await answerTo({ text: '🚇' }, chat());
  const at = Buffer.from(whole.text).indexOf(Buffer.from('🚇')) + 2;
  const split = await answerTo({ text: '🚇', splitAt: [at] }, chat());
  expect(split.chunks.map((chunk) => chunk.length)).toEqual([at, Buffer.byteLength(split.text) - at]);
  expect(split.text).toContain('🚇');
});

test.each(Object.entries(oddStreams))('a stream with %s is still a stream', async (_, rule) => {
  const answer = await answerTo({ ...rule, text: manyByteText }, streamed);
  expect(answer).toMatchObject({ status: 200, ending: 'whole' });
  expect(streamText(answer.text)).toBe(manyByteText);
});

test('usage comes where the rule wants it', async () => {
  const usages = async (rule: ScriptRule): Promise<number[]> =>
    (await answerTo({ ...rule, chunks: 3, comments: 0 }, streamed)).text
      .split('\n\n')
      .flatMap((event, index) => (event.includes('"usage"') ? [index] : []));
  // The role, three chunks, the finish, usage, DONE.
  expect(await usages({})).toEqual([5]);
  expect(await usages({ usageAt: 'last_chunk' })).toEqual([4]);
  expect(await usages({ usageAt: 'every_chunk' })).toEqual([0, 1, 2, 3, 4]);
  expect(await usages({ usageAt: 'twice' })).toEqual([5, 6]);
  expect(await usages({ usageAt: 'after_done' })).toEqual([6]);
  expect(await usages({ usageAt: 'missing' })).toEqual([]);
  const twice = await answerTo({ usageAt: 'twice' }, chat());
  expect(twice.text.match(/"usage":/g)).toHaveLength(2);
});

test('ten thousand tiny chunks, and one event of more than a megabyte', async () => {
  const many = await answerTo({ chunks: 10_000, text: 'a' }, streamed);
  expect(dataEvents(many.text)).toHaveLength(10_003);
  const huge = await answerTo({ chunks: 1, text: 'x'.repeat(1_200_000) }, streamed);
  expect(Math.max(...huge.text.split('\n').map((line) => line.length))).toBeGreaterThan(1_200_000);
});

test('comments may be all that ever comes', async () => {
  await using provider = await startTestProvider();
  provider.next({ comments: 'forever' });
  const enough = Promise.withResolvers<void>();
  const call = rawCall(chatUrl(provider), streamed, (bytes) => {
    if (bytes > 5_000) enough.resolve();
  });
  await enough.promise;
  call.hangUp();
  const answer = await call.answer;
  expect(answer.text.replaceAll(': OPENROUTER PROCESSING\n\n', '').length).toBeLessThan(26);
  await provider.ended(1);
  expect(provider.lastBill().use.completionTokens).toBe(0);
});

test('a chunk may be broken JSON, the whole body anything, the type wrong', async () => {
  const chunk = await answerTo({ chunks: 5, malformedChunk: 2, comments: 0 }, streamed);
  const third = chunk.text.split('\n\n')[2]?.slice('data: '.length) ?? '';
  expect(() => JSON.parse(third)).toThrow();
  const body = await answerTo({
    body: '{"half',
    headers: { 'content-type': 'text/plain', 'x-generation-id': null },
  });
  expect(body).toMatchObject({
    text: '{"half',
    headers: { 'content-type': 'text/plain', 'content-length': '6' },
  });
  expect(body.headers).not.toHaveProperty('x-generation-id');
});

test('an answer may be packed, or only said to be', async () => {
  const packed = await answerTo({ encoding: 'gzip', text: 'packed' }, streamed);
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(Buffer.concat(packed.chunks)).toString()).toContain('packed');
  const lie = await answerTo({ encoding: 'lie', text: 'packed' });
  expect(lie.headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(lie.text).choices[0].message.content).toBe('packed');
});

test('informational answers come first, and a redirect points elsewhere', async () => {
  expect(await answerTo({ informational: [102, 103] })).toMatchObject({
    informational: [102, 103],
    status: 200,
  });
  const redirect = await answerTo({ status: 307, headers: { location: '/x' }, error: { style: 'empty' } });
  expect(redirect).toMatchObject({ status: 307, headers: { location: '/x' }, text: '' });
});

test('what was asked is kept as it came: bytes, header names, order', async () => {
  await using provider = await startTestProvider();
  const body =
    '{"model":"faregate-sim/small",  "messages":[{"role":"user","content":"\\u0048i"}],"x":12345678901234567890}';
  const socket = connect(provider.port, '127.0.0.1');
  socket.end(
    `POST /api/v1/chat/completions?beta=true HTTP/1.1\r\nHost: sim\r\nX-oDD: 1\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
  await provider.ended(1);
  const request = provider.lastRequest();
  expect(request.body.toString()).toBe(body);
  expect(request).toMatchObject({
    method: 'POST',
    path: '/api/v1/chat/completions?beta=true',
    state: 'answered',
  });
  expect(request.rawHeaders.slice(2, 4)).toEqual(['X-oDD', '1']);
  expect(request.generationId).toBe(provider.lastBill().generationId);
  expect(provider.lastBody()).toMatchObject({ messages: [{ content: 'Hi' }] });
});

test('the newest requests are kept, within 64 MiB of bodies', async () => {
  await using provider = await startTestProvider();
  for (let i = 0; i < 10; i++)
    await rawCall(chatUrl(provider), chat({ i, padding: 'x'.repeat(8_000_000) })).answer;
  expect(provider.requests().map((request) => JSON.parse(request.body.toString()).i)).toEqual([
    2, 3, 4, 5, 6, 7, 8, 9,
  ]);
});

test('waiting for what never happens fails with a sentence', async () => {
  await using provider = await startTestProvider();
  await expect(provider.until(() => false, 10)).rejects.toThrow('within 10 ms');
});

test('closing ends the calls that still wait', async () => {
  const provider = await startTestProvider();
  provider.next({ gate: 'never' });
  const call = rawCall(chatUrl(provider), chat());
  await provider.reached('never');
  await provider.close();
  expect(await call.answer).toMatchObject({ ending: 'ECONNRESET' });
});
