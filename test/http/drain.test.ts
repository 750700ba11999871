import { afterAll, expect, test } from 'vitest';
import type { UseCases } from '../../api/routers/context.ts';
import { chatHead, type EdgeOptions, smallBody, startEdge } from '../support/edge-app.ts';
import { RawClient } from '../support/raw-http.ts';

const stops: (() => Promise<void> | void)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** An edge whose chat calls run until the test lets them end. */
async function startSlow(
  begin: (res: Parameters<UseCases['runCall']>[1]['res']) => void = () => undefined,
  limits: EdgeOptions['limits'] = {},
) {
  const ends: (() => void)[] = [];
  const edge = await startEdge({
    limits,
    useCases: {
      async runCall(_endpoint, { res }) {
        begin(res);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (res.headersSent) res.end('the end');
        else res.writeHead(200, { 'content-length': '2' }).end('{}');
        return null;
      },
    },
  });
  stops.push(() => edge.stop());
  const connect = async () => {
    const client = await RawClient.connect(edge.port);
    stops.push(() => client.destroy());
    return client;
  };
  const call = async () => (await connect()).head(chatHead(edge.key, smallBody.length)).send(smallBody);
  return { ...edge, ends, connect, call };
}

const balance = (key: string) => ['GET /v1/balance HTTP/1.1', 'Host: edge', `x-api-key: ${key}`];

test('with nothing running a drain ends at once and closes idle connections', async () => {
  const edge = await startSlow();
  const client = await edge.connect();
  expect((await client.head(balance(edge.key)).answer())?.headers.connection).toBe('keep-alive');
  expect(edge.server.draining()).toBe(false);
  await edge.server.endDrain();
  expect(edge.server.draining()).toBe(true);
  await client.closed();
});

test('a running call gets its whole answer, told to close, and the drain waits for it', async () => {
  const edge = await startSlow();
  const client = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(1);
  let drained = false;
  const drain = edge.server.endDrain().then(() => {
    drained = true;
  });
  expect(edge.server.openRequests()).toBe(1);
  expect(drained).toBe(false);
  edge.ends[0]?.();
  const answer = await client.answer();
  expect(answer).toMatchObject({ status: 200, body: '{}', headers: { connection: 'close' } });
  await drain;
  expect(edge.server.openRequests()).toBe(0);
  await client.closed();
  await expect(RawClient.connect(edge.port)).rejects.toThrow();
});

test('while one runs, who comes late and who comes on an open connection is served, and told to close', async () => {
  const edge = await startSlow();
  const idle = await edge.connect();
  await idle.head(balance(edge.key)).answer();
  const running = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(1);
  edge.server.beginDrain();
  const drain = edge.server.endDrain();
  const late = await edge.connect();
  for (const client of [idle, late]) {
    const answer = await client.head(balance(edge.key)).answer();
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await client.closed();
  }
  edge.ends[0]?.();
  await running.answer();
  await drain;
});

test('a stream that began before the drain runs to its end, and then its connection closes', async () => {
  const edge = await startSlow((res) => {
    res.writeHead(200, { 'content-length': '14' });
    res.write('a part ');
  });
  const client = await edge.call();
  await expect.poll(() => client.rest).toContain('a part');
  const drain = edge.server.endDrain();
  edge.ends[0]?.();
  const answer = await client.answer();
  expect(answer?.body).toBe('a part the end');
  expect(answer?.headers.connection).toBe('keep-alive');
  await drain;
  await client.closed();
});

test('who comes late and sends a body byte by byte keeps no drain open: what ran before ends, and then that is refused', async () => {
  const edge = await startSlow(undefined, { lastRequestsMs: 50 });
  const running = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(1);
  const drain = edge.server.endDrain();
  const trickling = (await edge.connect()).head(chatHead(edge.key, 1_000)).send('{');
  await expect.poll(() => edge.server.openRequests()).toBe(2);
  const late = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(2);

  edge.ends[0]?.();
  expect(await running.answer()).toMatchObject({ status: 200 });
  await expect
    .poll(() =>
      RawClient.connect(edge.port).then(
        () => 'taken',
        () => 'refused',
      ),
    )
    .toBe('refused');
  const refused = await trickling.answer();
  expect([refused?.status, refused?.headers.connection]).toEqual([408, 'close']);
  expect(refused?.body).toContain('timeout');
  await trickling.closed();
  expect(edge.server.openRequests()).toBe(1);
  edge.ends[1]?.();
  expect(await late.answer()).toMatchObject({ status: 200, body: '{}' });
  await drain;
});

test('nor does who sends the rest of a head only then, though nobody listens any more', async () => {
  const edge = await startSlow(undefined, { lastRequestsMs: 50 });
  const running = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(1);
  let isOver = false;
  const drain = edge.server.endDrain().then(() => {
    isOver = true;
  });
  const half = (await edge.connect()).send('POST /v1/chat/completions HTTP/1.1\r\n');
  const late = await edge.call();
  const trickling = (await edge.connect()).head(chatHead(edge.key, 1_000)).send('{');
  await expect.poll(() => edge.ends.length).toBe(2);
  await expect.poll(() => edge.server.openRequests()).toBe(3);
  edge.ends[0]?.();
  await running.answer();
  // The first look has been.
  expect((await trickling.answer())?.status).toBe(408);
  await expect.poll(() => edge.server.openRequests()).toBe(1);
  half.send(`${chatHead(edge.key, 1_000).slice(1).join('\r\n')}\r\n\r\n{`);
  await expect.poll(() => edge.server.openRequests()).toBe(2);
  edge.ends[1]?.();
  await late.answer();
  await expect
    .poll(
      () => {
        half.send(' ');
        return isOver;
      },
      { timeout: 5_000 },
    )
    .toBe(true);
  await drain;
});

test('nor does who asks late and reads slowly: once what ran before has ended, such an answer is cut', async () => {
  const edge = await startSlow(undefined, { lastRequestsMs: 20, lastAnswersMs: 30 });
  const running = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(1);
  const drain = edge.server.endDrain();
  const late = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(2);
  edge.ends[0]?.();
  expect(await running.answer()).toMatchObject({ status: 200, body: '{}' });
  await late.closed();
  await drain;
});

test('a drain that takes too long can be cut', async () => {
  const edge = await startSlow();
  const client = await edge.call();
  await expect.poll(() => edge.ends.length).toBe(1);
  const drain = edge.server.endDrain();
  expect(edge.server.endDrain()).toBe(drain);
  edge.server.destroy();
  await drain;
  await client.closed();
});
