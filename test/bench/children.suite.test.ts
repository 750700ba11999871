import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataEvents, rawCall } from '../simulator/raw-call.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { callBody, type Target } from './call.ts';
import { benchModels, STREAM_CHUNKS } from './canned-answers.ts';
import { type Child, startChild } from './child.ts';
import { filmBytes, sha256Of } from './film-bytes.ts';
import { runLoad } from './load.ts';
import type { Started } from './run-part.ts';
import { startVideoWorker } from './start-video-worker.ts';

const children: Child[] = [];
let provider = '';
let bare = '';

async function startScript(
  file: string,
  args: readonly string[],
  core: number | null,
  nodeFlags: readonly string[] = [],
): Promise<Started> {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const child = startChild([...nodeFlags, script, ...args], { core });
  children.push(child);
  return { pid: child.pid, port: JSON.parse(await child.firstLine).port };
}

const start = async (file: string, args: string[] = []): Promise<string> =>
  `http://127.0.0.1:${(await startScript(file, args, null)).port}`;

const videoBench = { start: startScript, coreUnderTest: null, loadCore: null };

beforeAll(async () => {
  provider = await start('canned-provider.ts');
  bare = await start('bare-proxy.ts', ['--upstream', provider]);
});
afterAll(async () => {
  for (const child of children) await child.stop();
});

test('the bare proxy hands on what the canned provider writes, byte for byte', async () => {
  for (const stream of [false, true]) {
    const body = callBody(benchModels.atOnce, stream).toString();
    const direct = await rawCall(`${provider}/api/v1/chat/completions`, body).answer;
    const proxied = await rawCall(`${bare}/v1/chat/completions`, body).answer;
    const withoutCost = (text: string): string => text.replace(/"cost":[^,]+/, '');
    expect(proxied).toMatchObject({ status: 200, ending: 'whole' });
    expect(withoutCost(proxied.text)).toBe(withoutCost(direct.text));
    expect(proxied.headers['x-generation-id']).not.toBe(direct.headers['x-generation-id']);
    // Fifty pieces of text, one of the end and one of usage.
    if (stream) expect(dataEvents(proxied.text)).toHaveLength(STREAM_CHUNKS + 2);
    else expect(proxied.text.length).toBeGreaterThan(1_800);
  }
});

test('a burst through the bare proxy loses no call', async () => {
  const target: Target = {
    name: 'bare',
    pid: 0,
    origin: bare,
    path: '/v1/chat/completions',
    authorizations: ['Bearer bench'],
    showsNanoUsd: false,
  };
  const pool = new Pool(bare, { allowH2: false });
  for (const stream of [false, true]) {
    const load = await runLoad(pool, target, callBody(benchModels.atOnce, stream), {
      callers: 16,
      // On a busy machine a caller needs longer for its second call than the burst lasts on an idle one.
      durationMs: 2_000,
    });
    expect(load.calls).toBeGreaterThan(16);
    expect([...load.failures]).toEqual([]);
    expect(load.shownNanoUsd).toBeGreaterThan(12_500n * BigInt(load.calls - 1));
  }
  await pool.close();
});

test('the provider keeps back its first byte for the model that says so', async () => {
  const startedMs = performance.now();
  await rawCall(`${provider}/api/v1/chat/completions`, callBody(benchModels.after50Ms, true).toString())
    .answer;
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(49);
});

test('the worker of videos asks after each of many, and none of them ends', async () => {
  await using folder = await testDataDir();
  const home = ['--folder', folder.path];
  const worker = await startVideoWorker(videoBench, { open: 50, bytes: null, home });
  await until(async () => (await worker.polls()) >= 50);
  expect(await worker.left()).toEqual({ open: 50, ended: [] });
});

test('it fetches what is made, as its provider sent it', async () => {
  await using folder = await testDataDir();
  const bytes = 300_000;
  const home = ['--folder', folder.path];
  const worker = await startVideoWorker(videoBench, { open: 2, bytes, home });
  await until(async () => (await worker.left()).open === 0);
  const sha256 = await sha256Of(filmBytes(bytes));
  for (const { errorCode, file } of (await worker.left()).ended) {
    expect({ errorCode, ...file }).toMatchObject({ errorCode: null, bytes, sha256 });
    expect(await sha256Of(createReadStream(join(folder.path, 'files', file?.path ?? '')))).toBe(sha256);
  }
});
