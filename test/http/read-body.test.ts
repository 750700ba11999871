import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { listen } from '../../api/http/create-http-server.ts';
import { readBody } from '../../api/http/read-body.ts';
import { RawClient } from '../support/raw-http.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

async function connectTo(listener: RequestListener): Promise<RawClient> {
  const server = createServer(listener);
  servers.push(server);
  return RawClient.connect(await listen(server, 0, '127.0.0.1'));
}

/** A server that begins to read when the test says so. */
async function connectToLateReader() {
  const seen: IncomingMessage[] = [];
  const late = { read: async (): Promise<unknown> => undefined };
  const client = await connectTo((req, res) => {
    seen.push(req);
    late.read = () => readBody(req, res, 1000);
  });
  return { client, seen, late };
}

const head = ['POST / HTTP/1.1', 'Host: edge', 'Content-Length: 100'];

test('a sender that leaves in the middle ends the wait', async () => {
  let result: Promise<unknown> | undefined;
  const client = await connectTo((req, res) => {
    result = readBody(req, res, 1000);
  });
  client.head(head).send('half');
  await expect.poll(() => result !== undefined).toBe(true);
  client.destroy();
  expect(await result).toBe('aborted');
});

test('a sender that left before the reading began ends it at once', async () => {
  const { client, seen, late } = await connectToLateReader();
  client.head(head).send('half');
  await expect.poll(() => seen.length).toBe(1);
  client.destroy();
  await expect.poll(() => seen[0]?.closed).toBe(true);
  expect(await late.read()).toBe('aborted');
});

test('a body in many pieces is put together in its order', async () => {
  let result: Promise<unknown> | undefined;
  const client = await connectTo((req, res) => {
    result = readBody(req, res, 1000);
  });
  client.head([...head.slice(0, 2), 'Transfer-Encoding: chunked']);
  for (const piece of ['1\r\na\r\n', '2\r\nbc\r', '\n1', '\r\nd\r\n', '0\r\n\r\n']) client.send(piece);
  await expect.poll(() => result !== undefined).toBe(true);
  expect(String(await result)).toBe('abcd');
});

test('a body that was whole before the reading began is read to its end', async () => {
  const { client, seen, late } = await connectToLateReader();
  client.head([...head.slice(0, 2), 'Transfer-Encoding: chunked']);
  client.send('2\r\nab\r\n').send('3\r\ncde\r\n0\r\n\r\n');
  await expect.poll(() => seen[0]?.complete).toBe(true);
  expect(String(await late.read())).toBe('abcde');
});
