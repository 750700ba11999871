import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callBody, type Target } from './call.ts';
import { benchModels } from './canned-answers.ts';
import { type Child, startChild } from './child.ts';
import { deliveredText } from './delivered-text.ts';
import { installPortkey } from './install-portkey.ts';
import { type LoadResult, runLoad } from './load.ts';
import { targetOf } from './run-part.ts';
import { type Portkey, startPortkey } from './start-portkey.ts';

const installation = await installPortkey();
if (installation.kind === 'refused') console.log(`Skipped: ${installation.reason}`);

describe.skipIf(installation.kind === 'refused')('Portkey in the bench', () => {
  let provider: Child;
  let direct: Target;
  let portkey: Portkey;
  beforeAll(async () => {
    if (installation.kind === 'refused') return;
    provider = startChild([fileURLToPath(new URL('canned-provider.ts', import.meta.url))], { core: null });
    const { port } = JSON.parse(await provider.firstLine);
    direct = targetOf('direct', { pid: provider.pid, port }, '/api/v1/chat/completions');
    portkey = await startPortkey(installation.entry, { upstream: direct.origin, core: null });
  });
  afterAll(async () => {
    await portkey?.stop();
    await provider?.stop();
  });

  test.each([false, true])('hands on all of what the provider writes, stream: %s', async (stream) => {
    const expected = await deliveredText(direct, benchModels.atOnce, stream);
    expect(expected.length).toBeGreaterThan(200);
    expect(await deliveredText(portkey.target, benchModels.atOnce, stream)).toBe(expected);
    const load = await loadOf(portkey.target, stream);
    expect(load.calls).toBeGreaterThanOrEqual(8);
    expect([...load.failures]).toEqual([]);
  });

  test('is seen to fail where it fails, so that it never counts as cheap', async () => {
    const refused = { ...portkey.target, headers: { 'x-portkey-provider': 'nobody' } };
    const load = await loadOf(refused, false);
    expect(load.failed).toBe(load.calls);
    await expect(deliveredText(refused, benchModels.atOnce, false)).rejects.toThrow('portkey answered 400');
  });

  test('can be reached by loopback alone', async () => {
    const port = Number(new URL(portkey.target.origin).port);
    expect(await answersAt('127.0.0.1', port)).toBe(true);
    // Who listens on every address has this one, too.
    expect(await answersAt('127.0.0.2', port)).toBe(false);
  });
});

async function loadOf(target: Target, stream: boolean): Promise<LoadResult> {
  const pool = new Pool(target.origin, { allowH2: false });
  const load = await runLoad(pool, target, callBody(benchModels.atOnce, stream), {
    callers: 8,
    durationMs: 200,
  });
  await pool.close();
  return load;
}

function answersAt(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
