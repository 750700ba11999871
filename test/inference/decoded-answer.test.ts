import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Pool } from 'undici';
import { describe, expect, it } from 'vitest';
import { GATE_BUFFER_BYTES, JSON_ANSWER_BYTES } from '#core/limits.ts';
import { collectAnswer } from '../../api/inference/upstream/collect-answer.ts';
import { DecodedAnswer } from '../../api/inference/upstream/decoded-answer.ts';
import { type AnswerReceiver, UpstreamRequest } from '../../api/inference/upstream/upstream-request.ts';
import { until } from '../support/gateway.ts';
import { FakeController } from './fake-ends.ts';

type Compress = (bytes: Buffer) => Buffer;
const codings: [string, Compress][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['identity, gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];

/** An answer whose head is here. */
function begin(encoding: string) {
  const upstream = new UpstreamRequest();
  const answer = new DecodedAnswer(upstream);
  const connection = new FakeController(answer);
  answer.onRequestStart(connection, {});
  answer.onResponseStart(connection, 200, { 'content-encoding': encoding });
  return { upstream, answer, connection };
}

/** Hears all that comes, and asks for less where a test says so. */
function listener(change: Partial<AnswerReceiver> = {}) {
  const ended = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const receiver: AnswerReceiver = {
    data: (chunk) => void chunks.push(chunk),
    end: () => ended.resolve('end'),
    fail: (cause) => ended.resolve(cause),
    ...change,
  };
  return { receiver, ended: ended.promise, text: () => Buffer.concat(chunks).toString() };
}

/** Text that compresses little, so that it comes in several pieces. */
const text = Array.from({ length: 40_000 }, (_, index) => (index * 7_919).toString(36)).join('');

/** Bytes that no coding goes on with for long. */
const noise = Buffer.from(Array.from({ length: 64 * 1_024 }, (_, index) => (index * 2_654_435_761) >>> 13));

describe('an answer that the provider compressed unasked', () => {
  it.each(codings)('in %s is read as the same plain one', async (encoding, compress) => {
    const { upstream, answer, connection } = begin(encoding);
    const heard = listener();
    const bytes = compress(Buffer.from(text));
    for (let at = 0; at < bytes.length; at += 1_000)
      answer.onResponseData(connection, bytes.subarray(at, at + 1_000));
    answer.onResponseEnd(connection, {});
    upstream.pipeTo(heard.receiver);
    expect(await heard.ended).toBe('end');
    expect(heard.text()).toBe(text);
    expect(connection.aborted).toBe(false);
  });

  it('ends where its reader goes away after all compressed bytes have come', async () => {
    const { upstream, answer, connection } = begin('gzip');
    const heard = listener({ data: () => upstream.pause() });
    upstream.pipeTo(heard.receiver);
    answer.onResponseData(connection, gzipSync(Buffer.from(text)));
    answer.onResponseEnd(connection, {});
    // A connection whose response has ended tells of no abort.
    connection.abort = () => undefined;
    await until(() => upstream.bytesReceived > 0);
    upstream.abort();
    expect(await heard.ended).toBe('aborted');
    expect(upstream.ended).toBe(true);
  });

  it.each(['identity', '', 'compress', 'gzip, br'])(
    'is passed as it came under a coding that is none to decode: %j',
    async (encoding) => {
      const { upstream, answer, connection } = begin(encoding);
      const heard = listener();
      upstream.pipeTo(heard.receiver);
      answer.onResponseData(connection, Buffer.from('plain'));
      answer.onResponseEnd(connection, {});
      expect([await heard.ended, heard.text()]).toEqual(['end', 'plain']);
    },
  );

  it.each(codings)(
    'in %s and is broken closes its connection, and later bytes change nothing',
    async (encoding, compress) => {
      const { upstream, answer, connection } = begin(encoding);
      const heard = listener();
      upstream.pipeTo(heard.receiver);
      const bytes = compress(Buffer.from(text));
      answer.onResponseData(connection, bytes.subarray(0, bytes.length / 2));
      for (let pieces = 0; pieces < 64; pieces++)
        answer.onResponseData(connection, noise.subarray(pieces * 1_024, (pieces + 1) * 1_024));
      expect(await heard.ended).toBe('cut');
      expect(connection.aborted).toBe(true);
      const before = heard.text();
      answer.onResponseData(connection, bytes);
      answer.onResponseEnd(connection, {});
      expect([heard.text(), upstream.ended]).toEqual([before, true]);
    },
  );

  it.each(codings)(
    'in %s that is none at all has never started, and its connection is closed',
    async (encoding) => {
      const { upstream, answer, connection } = begin(encoding);
      answer.onResponseData(connection, Buffer.from('{"this":"is plain JSON under a wrong name"}'));
      answer.onResponseEnd(connection, {});
      expect(await upstream.started).toEqual({ ok: false, cause: 'cut' });
      expect(connection.aborted).toBe(true);
    },
  );

  it('of few bytes that expand to many waits at 64 KiB for its reader, and so does the connection', async () => {
    const { upstream, answer, connection } = begin('gzip');
    // 64 MiB in 64 KiB.
    answer.onResponseData(connection, gzipSync(Buffer.alloc(64 * 1024 * 1024)));
    expect(await upstream.started).toEqual({ ok: true });
    await until(() => connection.paused);
    // Bytes that the decoder had ready come within some turns of the event loop, if any do.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(upstream.bytesReceived).toBeLessThan(4 * GATE_BUFFER_BYTES);
  });

  it('is read no further than any whole answer, and its connection is closed', async () => {
    const { upstream, answer, connection } = begin('gzip');
    answer.onResponseData(connection, gzipSync(Buffer.alloc(2 * JSON_ANSWER_BYTES)));
    expect(await collectAnswer(upstream, JSON_ANSWER_BYTES)).toMatchObject({ ok: false, cause: 'too_large' });
    expect(upstream.bytesReceived).toBeLessThan(JSON_ANSWER_BYTES + 1024 * 1024);
    expect(connection.aborted).toBe(true);
  });

  it('is cut at eight whole answers where it passes as a stream', async () => {
    const { upstream, answer, connection } = begin('gzip');
    let length = 0;
    const heard = listener({
      data: (chunk) => {
        length += chunk.length;
      },
    });
    upstream.pipeTo(heard.receiver);
    const member = gzipSync(Buffer.alloc(1024 * 1024));
    for (let mebibytes = 0; mebibytes < 300; mebibytes++) answer.onResponseData(connection, member);
    expect(await heard.ended).toBe('cut');
    expect(length).toBeLessThanOrEqual(8 * JSON_ANSWER_BYTES);
    expect(connection.aborted).toBe(true);
  });

  it('stops for a reader that asks for no more, and goes on for it', async () => {
    const { upstream, answer, connection } = begin('gzip');
    let length = 0;
    const heard = listener({
      data(chunk) {
        length += chunk.length;
        upstream.pause();
      },
    });
    upstream.pipeTo(heard.receiver);
    answer.onResponseData(connection, gzipSync(Buffer.alloc(1024 * 1024)));
    answer.onResponseEnd(connection, {});
    await until(() => length > 0);
    const first = length;
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([length, connection.paused]).toEqual([first, true]);
    while (length < 1024 * 1024) {
      const before = length;
      upstream.resume();
      await until(() => length > before);
    }
    upstream.resume();
    expect(await heard.ended).toBe('end');
  });

  it('that we end ourselves ends as any other', async () => {
    const { upstream, answer, connection } = begin('br');
    const heard = listener();
    upstream.pipeTo(heard.receiver);
    answer.onResponseData(connection, brotliCompressSync(Buffer.from(text)).subarray(0, 100));
    upstream.abort();
    expect([await heard.ended, connection.aborted]).toEqual(['aborted', true]);
  });
});

it.each(['gzip', 'deflate', 'br', 'zstd'])(
  'a provider that goes on with broken %s loses its connection',
  async (encoding) => {
    const closed = Promise.withResolvers<void>();
    const server = createServer((_req, res) => {
      res.once('close', () => closed.resolve());
      res.writeHead(200, { 'content-encoding': encoding });
      res.write(Buffer.alloc(64 * 1024, 0x55));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const pool = new Pool(`http://127.0.0.1:${port}`, { bodyTimeout: 0 });
    const upstream = new UpstreamRequest();
    pool.dispatch({ method: 'GET', path: '/' }, new DecodedAnswer(upstream));
    expect(await upstream.started).toEqual({ ok: false, cause: 'cut' });
    await closed.promise;
    await pool.close();
    server.close();
  },
);
