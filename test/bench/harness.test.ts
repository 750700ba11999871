import { type AddressInfo, createServer } from 'node:net';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { startTestProvider, type TestProvider } from '../support/provider.ts';
import { type CallResult, callBody, startCall, type Target } from './call.ts';
import { histogramMedian, readHistogram, since } from './histogram.ts';
import { openHttpConnection } from './http-connection.ts';
import { runLoad } from './load.ts';
import { quantile, shuffled } from './statistics.ts';

const targetAt = (provider: TestProvider): Target => ({
  name: 'simulator',
  pid: process.pid,
  origin: `http://127.0.0.1:${provider.port}`,
  path: '/api/v1/chat/completions',
  authorizations: ['Bearer a', 'Bearer b'],
  showsNanoUsd: false,
});

test.each([false, true])(
  "the costs that the load adds up are the provider's bill, to the nano-dollar (stream: %s)",
  async (stream) => {
    await using provider = await startTestProvider();
    provider.always({ promptTokens: 101, cachedTokens: 50, completionTokens: 1 });
    const pool = new Pool(targetAt(provider).origin, { allowH2: false });
    // A model whose costs are finer than a nano-dollar.
    const load = await runLoad(pool, targetAt(provider), callBody('faregate-sim/long', stream), {
      callers: 4,
      durationMs: 50,
    });
    await pool.close();
    expect(load.calls).toBeGreaterThanOrEqual(4);
    expect(load.failed).toBe(0);
    expect(load.calls).toBe(provider.billed().length);
    expect(load.shownNanoUsd).toBe(2_532n * BigInt(load.calls));
    expect(load.shownNanoUsd).toBe(provider.billedNanoUsd());
    const keys = new Set(provider.requests().map((request) => request.headers.authorization));
    expect(keys).toEqual(new Set(['Bearer a', 'Bearer b']));
  },
);

test('a call counts as failed by its status, its cut, its missing cost or end', async () => {
  await using provider = await startTestProvider();
  provider.next({ status: 503, error: {} }, { cutAt: 200 }, { usageAt: 'missing' }, { done: false }, {});
  const pool = new Pool(targetAt(provider).origin, { allowH2: false });
  const results: CallResult[] = [];
  for (let i = 0; i < 5; i++) {
    results.push(
      await new Promise((resolve) =>
        startCall(pool, targetAt(provider), 0, callBody('faregate-sim/small', true), resolve),
      ),
    );
  }
  await pool.close();
  expect(results.map(({ ok, status }) => [ok, status])).toEqual([
    [false, 503],
    [false, 200],
    [false, 200],
    [false, 200],
    [true, 200],
  ]);
  expect(results.slice(0, 4).every(({ costNanoUsd }) => costNanoUsd === 0n)).toBe(true);
});

test('a gateway that shows a fraction of a nano-dollar does not count as one that shows a cost', async () => {
  await using provider = await startTestProvider();
  provider.next({ usageFields: { cost: '0.0000000015' } });
  const target = { ...targetAt(provider), showsNanoUsd: true };
  const pool = new Pool(target.origin, { allowH2: false });
  const result = await new Promise<CallResult>((resolve) =>
    startCall(pool, target, 0, callBody('faregate-sim/small', false), resolve),
  );
  await pool.close();
  expect(result.ok).toBe(false);
});

test('the median and its neighbours are taken between values', () => {
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  expect(quantile([4, 1, 2, 3], 0.5)).toBe(2.5);
  expect(quantile([10, 20], 0.25)).toBe(12.5);
  expect(quantile([], 0.5)).toBeNaN();
  expect(shuffled([1, 2, 3]).sort()).toEqual([1, 2, 3]);
});

const metrics = (counts: number[], sum: number): string => `# TYPE commit_ms histogram
commit_ms_bucket{le="1"} ${counts[0]}
commit_ms_bucket{le="2"} ${counts[1]}
commit_ms_bucket{le="+Inf"} ${counts[2]}
commit_ms_sum ${sum}
commit_ms_count ${counts[2]}
`;

test('of a histogram only what came between two readings counts', () => {
  const before = readHistogram(metrics([100, 100, 100], 50), 'commit_ms');
  const after = readHistogram(metrics([100, 108, 110], 70), 'commit_ms');
  if (before === null || after === null) throw new Error('No histogram read');
  expect(since(before, after)).toMatchObject({ sum: 20, count: 10 });
  // Five of ten: five eighths of the way from 1 to 2.
  expect(histogramMedian(since(before, after))).toBe(1.625);
  expect(readHistogram(metrics([1, 1, 1], 1), 'other_ms')).toBeNull();
});

test('a plain answer counts only whole, with its status and what it is to say', async () => {
  const answers = [
    'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"a":1}',
    'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"b":1}',
    'HTTP/1.1 429 Too Many Requests\r\nContent-Length: 7\r\n\r\n{"a":1}',
    // In two pieces, the first of which ends within the head.
    ['HTTP/1.1 200 OK\r\nContent-Le', 'ngth: 7\r\n\r\n{"a":1}'],
    // Longer than it says, and of no length.
    'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n{"a":1}',
    'HTTP/1.1 200 OK\r\n\r\n{"a":1}',
  ];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', async () => {
      for (const piece of [answers.shift() ?? []].flat()) {
        await new Promise((written) => socket.write(piece, written));
        await new Promise(setImmediate);
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async () => {
    const connection = openHttpConnection(origin, '"a":1');
    const { status, isExpected } = await connection.ask(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    connection.close();
    return [status, isExpected];
  };
  const seen: unknown[] = [];
  while (answers.length > 0) seen.push(await ask());
  server.close();
  expect(seen).toEqual([
    [200, true],
    [200, false],
    [429, true],
    [200, true],
    [0, false],
    [0, false],
  ]);
});
