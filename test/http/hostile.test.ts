import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { CALL_ID_HEADER, chatHead, smallBody } from '../support/edge-app.ts';
import { balanceHead, errorOf, rawEdges } from '../support/raw-edge.ts';
import { rawRequest } from '../support/raw-http.ts';

const MB = 1024 * 1024;
const { start, stop } = rawEdges();
afterAll(stop);

describe('bodies over the limit', async () => {
  const edge = await start();
  beforeEach(() => void edge.bodies.splice(0));

  test('a declared length is refused before the body is sent', async () => {
    const client = await edge.connect();
    const answer = await client.head(chatHead(edge.key, 4 * MB + 1)).answer();
    expect(answer?.status).toBe(413);
    expect(answer?.headers.connection).toBe('close');
    expect(errorOf(answer)).toMatchObject({ code: 'request_too_large', type: 'invalid_request_error' });
    expect(errorOf(answer).message).toContain('over 4 MB');
  });

  test('a sender that pushes its 5 MB out before it reads gets the answer, not a reset', async () => {
    const client = await edge.connect();
    const answer = await client
      .head(chatHead(edge.key, 5 * MB))
      .send(Buffer.alloc(5 * MB, 32))
      .answer();
    expect(answer?.status).toBe(413);
    await client.closed();
    expect(edge.bodies).toEqual([]);
  });

  test('chunks are counted, and the sender is cut off', async () => {
    const client = await edge.connect();
    client.head(chatHead(edge.key, null, ['Transfer-Encoding: chunked']));
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MB, 32), Buffer.from('\r\n')]);
    for (let i = 0; i < 5; i++) client.send(chunk);
    expect((await client.answer())?.status).toBe(413);
    // It goes on sending for ever: the server reads a bounded rest, then closes.
    while (!client.isClosed) {
      await new Promise((resolve) => client.socket.write(chunk, () => setImmediate(resolve)));
    }
    expect(client.socket.bytesWritten).toBeLessThan(64 * MB);
    expect(await edge.stillServes()).toBe(true);
  });

  test('exactly the limit is read', async () => {
    const answer = await rawRequest(edge.port, chatHead(edge.key, 4 * MB), Buffer.alloc(4 * MB, 32));
    expect(answer?.status).toBe(200);
    expect(edge.bodies.at(-1)).toHaveLength(4 * MB);
  });

  test('a stranger with a large body learns 401, and the body is not kept', async () => {
    const client = await edge.connect();
    const answer = await client
      .head(chatHead('nobody', 5 * MB))
      .send(Buffer.alloc(5 * MB, 32))
      .answer();
    expect(answer?.status).toBe(401);
    expect(answer?.headers.connection).toBe('close');
    await client.closed();
  });
});

describe('Expect: 100-continue', async () => {
  const edge = await start();
  const head = (key: string, length: number) => chatHead(key, length, ['Expect: 100-continue']);

  test('a good key is told to go on', async () => {
    const client = await edge.connect();
    expect((await client.head(head(edge.key, smallBody.length)).answer())?.status).toBe(100);
    expect((await client.send(smallBody).answer())?.status).toBe(200);
  });

  test('a bad key and a body over the limit are refused without an upload', async () => {
    for (const [key, length, status] of [
      ['nobody', 10, 401],
      [edge.key, 9 * MB, 413],
    ] as const) {
      const client = await edge.connect();
      expect((await client.head(head(key, length)).answer())?.status).toBe(status);
      await client.closed();
    }
  });

  test('any other expectation is refused in our shape', async () => {
    const answer = await rawRequest(edge.port, chatHead(edge.key, 2, ['Expect: a-miracle']), '{}');
    expect(answer?.status).toBe(400);
    expect(errorOf(answer).code).toBe('invalid_request');
  });
});

describe('content-length that lies', async () => {
  const edge = await start({
    limits: { requestTimeoutMs: 150, headersTimeoutMs: 150, connectionsCheckMs: 20 },
  });
  beforeEach(() => void edge.bodies.splice(0));

  test('too short: the request is answered, its rest is no request, the connection ends', async () => {
    const client = await edge.connect();
    client.head(chatHead(edge.key, smallBody.length)).send(`${smallBody}{"model":"smuggled"}`);
    const answer = await client.answer();
    expect(answer?.status).toBe(200);
    expect(answer?.headers.connection).toBe('close');
    await client.closed();
    expect(client.rest).toBe('');
    expect(edge.bodies.map(String)).toEqual([smallBody]);
  });

  test('too long: the wait is bounded and ends in 408', async () => {
    const client = await edge.connect();
    const answer = await client.head(chatHead(edge.key, 100)).send('{').answer();
    expect(answer?.status).toBe(408);
    expect(errorOf(answer)).toMatchObject({ code: 'timeout', type: 'server_error' });
    await client.closed();
  });

  test.each([
    'Content-Length: -1',
    'Content-Length: 1e3',
    'Content-Length: 0x10',
    'Content-Length: 5, 5',
    'Content-Length: +5',
  ])('%s is 400', async (line) => {
    const answer = await rawRequest(edge.port, chatHead(edge.key, null, [line]), '{}');
    expect(answer?.status).toBe(400);
    expect(errorOf(answer).code).toBe('invalid_request');
    expect(answer?.headers.connection).toBe('close');
  });

  test('an absent length is an empty body', async () => {
    const client = await edge.connect();
    expect(JSON.parse((await client.head(chatHead(edge.key, null)).answer())?.body ?? '').bytes).toBe(0);
  });
});

describe('slow senders', async () => {
  const edge = await start({
    limits: { requestTimeoutMs: 200, headersTimeoutMs: 100, connectionsCheckMs: 20 },
  });
  beforeEach(() => void edge.bodies.splice(0));

  test('headers that never end', async () => {
    const client = await edge.connect();
    const answer = await client.send('GET /v1/balance HTTP/1.1\r\nHost: edge\r\n').answer();
    expect(answer?.status).toBe(408);
    expect(errorOf(answer).code).toBe('timeout');
    expect(answer?.headers[CALL_ID_HEADER]).toMatch(/^\d+$/);
    await client.closed();
  });

  test('a body that comes byte by byte', async () => {
    const client = await edge.connect();
    client.head(chatHead(edge.key, 1000));
    const drip = setInterval(() => client.send('x'), 10);
    const answer = await client.answer();
    clearInterval(drip);
    expect(answer?.status).toBe(408);
    await client.closed();
    expect(edge.bodies).toEqual([]);
  });

  test('a refused body that never ends does not keep its connection', async () => {
    const client = await edge.connect();
    const answer = await client.head(chatHead('nobody', 5 * MB)).answer();
    expect(answer?.status).toBe(401);
    await client.closed();
    expect(await edge.stillServes()).toBe(true);
  });

  test('a client that says nothing at all', async () => {
    const client = await edge.connect();
    await client.closed();
  });
});

test('who reads nothing of an answer loses the connection; who waits for one does not', async () => {
  const answers: (() => void)[] = [];
  const edge = await start({
    limits: { stalledReaderMs: 100, connectionsCheckMs: 20 },
    useCases: {
      listVideoModels: ({ res }) => void res.end(Buffer.alloc(32 * MB)),
      async runCall(_endpoint, { res }) {
        await new Promise<void>((resolve) => answers.push(resolve));
        res.writeHead(200, { 'content-length': '2' }).end('{}');
        return null;
      },
    },
  });
  const waiting = await edge.connect();
  waiting.head(chatHead(edge.key, smallBody.length)).send(smallBody);
  await expect.poll(() => answers.length).toBe(1);
  const stalled = await edge.connect();
  stalled.socket.pause();
  stalled.head(['GET /v1/videos/models HTTP/1.1', 'Host: edge']);
  await expect.poll(() => edge.server.openRequests()).toBe(2);
  // The other's time began before.
  await expect.poll(() => edge.server.openRequests()).toBe(1);
  answers[0]?.();
  expect((await waiting.answer())?.status).toBe(200);
  expect((await waiting.head(balanceHead(edge.key)).answer())?.status).toBe(200);
});

test('who takes late what waited, and then waits for the rest, keeps the connection', async () => {
  const answers: ServerResponse[] = [];
  const edge = await start({
    limits: { stalledReaderMs: 5_000, connectionsCheckMs: 20 },
    useCases: {
      listVideoModels({ res }) {
        answers.push(res);
        res.writeHead(200, { 'content-length': 32 * MB + 2 }).write(Buffer.alloc(32 * MB));
      },
    },
  });
  const late = await edge.connect();
  late.socket.pause();
  late.head(['GET /v1/videos/models HTTP/1.1', 'Host: edge']);
  const timed = () => answers[0]?.socket?.timeout;
  await expect.poll(timed).toBe(5_000);
  let last = '';
  // It is not gathered, which would take longer than a stalled reader has.
  late.socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
    last = bytes.subarray(-2).toString();
  });
  late.socket.resume();
  await expect.poll(timed).toBe(0);
  answers[0]?.end('{}');
  await expect.poll(() => last).toBe('{}');
});

describe('one connection, many requests', async () => {
  const edge = await start();

  test('lives on after every refusal whose body was small', async () => {
    const client = await edge.connect();
    for (const [key, path, status] of [
      ['nobody', '/v1/chat/completions', 401],
      [edge.key, '/v1/nothing', 404],
      [edge.key, '/v1/chat/completions', 200],
    ] as const) {
      const [, ...head] = chatHead(key, smallBody.length);
      const answer = await client
        .head([`POST ${path} HTTP/1.1`, ...head])
        .send(smallBody)
        .answer();
      expect(answer?.status).toBe(status);
      expect(answer?.headers.connection).toBe('keep-alive');
    }
    const zipped = chatHead(edge.key, smallBody.length, ['Content-Encoding: gzip']);
    expect((await client.head(zipped).send(smallBody).answer())?.status).toBe(400);
    expect((await client.head(balanceHead(edge.key)).answer())?.status).toBe(200);
  });

  test('a refused body is not read as the next request', async () => {
    const client = await edge.connect();
    const body = `${balanceHead(edge.key).join('\r\n')}\r\n\r\n`;
    expect((await client.head(chatHead('nobody', body.length)).send(body).answer())?.status).toBe(401);
    expect((await client.head(['GET /v1/nothing HTTP/1.1', 'Host: edge']).answer())?.status).toBe(404);
    expect(client.rest).toBe('');
  });

  test('pipelined requests are answered in their order, each to its own key', async () => {
    const client = await edge.connect();
    const call = `${chatHead(edge.key, smallBody.length).join('\r\n')}\r\n\r\n${smallBody}`;
    const stranger = `${balanceHead('nobody').join('\r\n')}\r\n\r\n`;
    const balance = `${balanceHead(edge.key).join('\r\n')}\r\n\r\n`;
    client.send(call + stranger + balance + call);
    const answers = [
      await client.answer(),
      await client.answer(),
      await client.answer(),
      await client.answer(),
    ];
    expect(answers.map((answer) => answer?.status)).toEqual([200, 401, 200, 200]);
  });

  test('garbage behind a running call does not take the place of its answer', async () => {
    let answerNow: () => void = () => undefined;
    let bytesRead = () => 0;
    const slow = await start({
      useCases: {
        async runCall(_endpoint, { req, res }) {
          bytesRead = () => req.socket.bytesRead;
          await new Promise<void>((resolve) => {
            answerNow = resolve;
          });
          res.writeHead(200, { 'content-length': '2' }).end('{}');
          return null;
        },
      },
    });
    const client = await slow.connect();
    client.head(chatHead(slow.key, smallBody.length)).send(smallBody);
    await expect.poll(() => bytesRead()).toBe(client.socket.bytesWritten);
    client.send('\0garbage\r\n\r\n').send('more garbage');
    await expect.poll(() => bytesRead()).toBe(client.socket.bytesWritten);
    answerNow();
    expect((await client.answer())?.body).toBe('{}');
    await client.closed();
    expect(client.rest).toBe('');
  });
});

describe('senders that leave', () => {
  test('in the middle of the body: no handler runs, nothing is logged, nothing stays open', async () => {
    let admitted: () => void = () => undefined;
    const admission = new Promise<void>((resolve) => {
      admitted = resolve;
    });
    const edge = await start({
      useCases: {
        admitStart() {
          admitted();
          return null;
        },
      },
    });
    const client = await edge.connect();
    client.head(chatHead(edge.key, 1000)).send('{"model"');
    await admission;
    client.destroy();
    await expect.poll(() => edge.server.openRequests()).toBe(0);
    expect(edge.bodies).toEqual([]);
    expect(edge.logged).toEqual([]);
  });

  test('while their key is looked up', async () => {
    let lookUp: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      lookUp = resolve;
    });
    let release: () => void = () => undefined;
    const edge = await start({
      findKey: async () => {
        lookUp();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return { found: true, agentId: 7, keyId: 1, revoked: false, agentStatus: 'active' };
      },
    });
    const client = await edge.connect();
    client.head(chatHead(edge.key, 1000)).send('{"model"');
    await asked;
    client.destroy();
    await expect.poll(() => edge.server.openRequests()).toBe(0);
    release();
    await expect.poll(() => edge.logged).toEqual([]);
    expect(edge.bodies).toEqual([]);
  });
});
