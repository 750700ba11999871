import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { CALL_ID_HEADER, chatHead, smallBody } from '../support/edge-app.ts';
import { balanceHead, errorOf, rawEdges } from '../support/raw-edge.ts';
import { rawRequest } from '../support/raw-http.ts';

const { start, stop } = rawEdges();
afterAll(stop);

describe('headers', async () => {
  const edge = await start();

  test('over 16 KB are refused in our shape', async () => {
    for (const line of [
      `X-Long: ${'a'.repeat(20_000)}`,
      ...[Array.from({ length: 400 }, (_, i) => `X-${i}: ${'a'.repeat(50)}`).join('\r\n')],
    ]) {
      const answer = await rawRequest(edge.port, [...balanceHead(edge.key), line]);
      expect(answer?.status).toBe(413);
      expect(errorOf(answer)).toMatchObject({ code: 'request_too_large' });
    }
  });

  test.each([
    ['two Authorization headers', ['Authorization: Bearer KEY', 'Authorization: Bearer KEY']],
    ['a second, foreign Authorization header', ['Authorization: Bearer KEY', 'authorization: Bearer other']],
    ['two x-api-key headers', ['x-api-key: KEY', 'X-Api-Key: KEY']],
    ['two headers of both kinds', ['x-api-key: KEY', 'Authorization: Bearer KEY', 'x-api-key: other']],
  ])('%s are 401', async (_what, lines) => {
    const sent = lines.map((line) => line.replace('KEY', edge.key));
    const answer = await rawRequest(edge.port, ['GET /v1/balance HTTP/1.1', 'Host: edge', ...sent]);
    expect(answer?.status).toBe(401);
    expect(errorOf(answer).code).toBe('invalid_api_key');
  });

  test.each([
    ['Content-Length and Transfer-Encoding', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['Transfer-Encoding and Content-Length', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
    ['two lengths that differ', ['Content-Length: 2', 'Content-Length: 5']],
    ['chunked that is not last', ['Transfer-Encoding: chunked, identity']],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['an unknown coding', ['Transfer-Encoding: xchunked']],
    ['a folded header', ['X-A: b', ' c']],
    ['a folded coding', ['Transfer-Encoding:', ' chunked']],
    ['a space before the colon', ['Content-Length : 2']],
    ['a name with a space', ['Content Length: 2']],
    ['no colon', ['Content-Length']],
    ['a bare CR', ['X-A: b\rTransfer-Encoding: chunked']],
    ['a NUL', ['X-A: b\0c']],
  ])('that could smuggle a second request are refused: %s', async (_what, lines) => {
    const edgeBodies = edge.bodies.length;
    const client = await edge.connect();
    const smuggled = [
      '0',
      '',
      'GET /v1/balance HTTP/1.1',
      'Host: edge',
      `x-api-key: ${edge.key}`,
      '',
      '',
    ].join('\r\n');
    client.head(chatHead(edge.key, null, lines)).send(smuggled);
    const answer = await client.answer();
    expect(answer?.status).toBe(400);
    expect(errorOf(answer).code).toBe('invalid_request');
    await client.closed();
    expect(client.rest).toBe('');
    expect(edge.bodies).toHaveLength(edgeBodies);
  });

  test('HTTP/1.1 without a Host is refused in our shape, HTTP/1.0 needs none', async () => {
    const client = await edge.connect();
    const answer = await client.head(['GET /v1/balance HTTP/1.1', `x-api-key: ${edge.key}`]).answer();
    expect(answer?.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request' });
    expect(errorOf(answer).message).toContain('Host');
    await client.closed();
    const old = await rawRequest(edge.port, ['GET /v1/balance HTTP/1.0', `x-api-key: ${edge.key}`]);
    expect(old?.status).toBe(200);
  });

  test.each([
    ['two', ['Host: a', 'Host: b']],
    ['two of one name', ['Host: a', 'host: a']],
    ['two, one of which is empty', ['Host: a', 'Host:']],
    ['an empty one', ['Host: ']],
    ['a user', ['Host: user@host']],
    ['a list', ['Host: a, b']],
    ['a list without a space', ['Host: a,b']],
    ['a path', ['Host: a/b']],
    ['a scheme', ['Host: https://a']],
    ['a port that is none', ['Host: a:b']],
    ['two ports', ['Host: a:80:80']],
    ['a port alone', ['Host: :80']],
    ['an address without its end', ['Host: [::1']],
    ['an address without brackets', ['Host: ::1']],
    ['a space', ['Host: a b']],
    ['a tab', ['Host: a\tb']],
    ['letters beyond ASCII', ['Host: \xe4.example']],
  ])('a Host is one name or address, and 400 else: %s', async (_what, hosts) => {
    for (const version of ['1.1', '1.0']) {
      const answer = await rawRequest(edge.port, [
        `GET /v1/balance HTTP/${version}`,
        ...hosts,
        `x-api-key: ${edge.key}`,
      ]);
      expect(answer?.status).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: 'invalid_request' });
      expect(errorOf(answer).message).toContain('Host');
    }
  });

  test.each([
    'a',
    'A.example:8080',
    'my_service.ns.svc.',
    '10.0.0.1',
    '[::1]',
    '[fe80::1%25eth0]:80',
    'a.example:',
  ])('a Host may be %s', async (host) => {
    const answer = await rawRequest(edge.port, [
      'GET /v1/balance HTTP/1.1',
      `Host: ${host}`,
      `x-api-key: ${edge.key}`,
    ]);
    expect(answer?.status).toBe(200);
  });

  test.each([
    ['400 for what is no request', ['GET /v1/balance HTTP/1.1', 'no colon'], 400],
    ['400 for a request without a Host', ['GET /v1/balance HTTP/1.1'], 400],
    ['400 for an expectation', ['GET /v1/balance HTTP/1.1', 'Host: edge', 'Expect: a-miracle'], 400],
    ['413', ['GET /v1/balance HTTP/1.1', 'Host: edge', `X-Long: ${'a'.repeat(20_000)}`], 413],
  ])('even a broken request gets an id to quote: %s', async (_what, lines, status) => {
    const answers = [await rawRequest(edge.port, lines), await rawRequest(edge.port, lines)];
    const ids = answers.map((answer) => answer?.headers[CALL_ID_HEADER] ?? '');
    expect(answers.map((answer) => answer?.status)).toEqual([status, status]);
    for (const [i, id] of ids.entries()) {
      expect(id).toMatch(/^[1-9]\d{10,15}$/);
      expect(answers[i]?.headers['x-request-id']).toBe(id);
      expect(answers[i]?.headers['cache-control']).toBe('no-store');
    }
    expect(ids[0]).not.toBe(ids[1]);
  });

  test.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00'],
    ['another protocol version', 'GET / HTTP/3.0\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'STEAL /v1/balance HTTP/1.1\r\nHost: edge\r\n\r\n'],
    ['bare line feeds in a chunked body', 'POST /v1/chat/completions HTTP/1.1\nHost: edge\n\n'],
  ])('%s is 400 and the connection ends', async (_what, bytes) => {
    const client = await edge.connect();
    const answer = await client.send(bytes).answer();
    expect(answer?.status).toBe(400);
    await client.closed();
    expect(await edge.stillServes()).toBe(true);
  });

  test('a tunnel is an unknown method like any other', async () => {
    const client = await edge.connect();
    const answer = await client.head(['CONNECT x:80 HTTP/1.1', 'Host: x:80']).answer();
    expect(answer?.status).toBe(404);
    expect(errorOf(answer).code).toBe('not_found');
    await client.closed();
    const gone = await edge.connect();
    gone.head(['CONNECT x:80 HTTP/1.1', 'Host: x:80']).socket.resetAndDestroy();
    expect(await edge.stillServes()).toBe(true);
  });

  test('a tunnel asked for behind a running call is no answer to that call', async () => {
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const slow = await start({
      useCases: {
        runCall() {
          started();
          return new Promise(() => undefined);
        },
      },
    });
    const client = await slow.connect();
    client.head(chatHead(slow.key, smallBody.length)).send(smallBody);
    await running;
    expect(await client.head(['CONNECT x:80 HTTP/1.1', 'Host: x:80']).answer()).toBeNull();
  });

  test('a tunnel asked for behind calls of which one waits for its turn is told to both, and no drain waits for them', async () => {
    let started = 0;
    let ended = 0;
    const slow = await start({
      useCases: {
        async runCall(_endpoint, { res }) {
          started += 1;
          await new Promise<void>((resolve) => res.once('close', resolve));
          ended += 1;
          return null;
        },
      },
    });
    const client = await slow.connect();
    const call = `${chatHead(slow.key, smallBody.length).join('\r\n')}\r\n\r\n${smallBody}`;
    client.send(call + call);
    await expect.poll(() => started).toBe(2);
    client.send('CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n');
    await expect.poll(() => ended).toBe(2);
    expect(slow.server.openRequests()).toBe(0);
    await slow.server.endDrain();
  });

  test('an answer that is given up before its turn ends its connection when its turn has come', async () => {
    const calls: ServerResponse[] = [];
    const slow = await start({
      useCases: {
        async runCall(_endpoint, { res }) {
          calls.push(res);
          await new Promise<void>((resolve) => res.once('close', resolve));
          return null;
        },
      },
    });
    const client = await slow.connect();
    const call = `${chatHead(slow.key, smallBody.length).join('\r\n')}\r\n\r\n${smallBody}`;
    client.send(call + call);
    await expect.poll(() => calls.length).toBe(2);
    calls[1]?.destroy();
    await expect.poll(() => slow.server.openRequests()).toBe(1);
    calls[0]?.writeHead(200, { 'content-length': '2' }).end('{}');
    expect((await client.answer())?.status).toBe(200);
    await client.closed();
  });

  test.each(['/v1/../v1/balance', '/v1/./balance', '/v1/balance/..', '*', '\\v1\\balance', '/v1\\balance'])(
    'the path %s is not_found',
    async (path) => {
      const answer = await rawRequest(edge.port, [
        `GET ${path} HTTP/1.1`,
        'Host: edge',
        `x-api-key: ${edge.key}`,
      ]);
      expect([404, 400]).toContain(answer?.status);
    },
  );
});
