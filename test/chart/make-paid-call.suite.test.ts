import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MODEL, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** As the pod of `helm test` runs it, with what its container has. */
async function makePaidCall({ running }: TestGateway, env: Record<string, string> = {}) {
  const script = fileURLToPath(new URL('../../charts/faregate/files/make-paid-call.mts', import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: {
      FAREGATE_URL: running.baseUrl.replace(/\/v1$/, ''),
      FAREGATE_INTERNAL_URL: running.internalUrl,
      ...env,
    },
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code };
}

test('a call is paid for, and the balance falls by what it cost', async () => {
  await using gateway = await startTestGateway();
  const before = await gateway.balance();
  const ran = await makePaidCall(gateway, { FAREGATE_API_KEY: gateway.agent.key, FAREGATE_MODEL: MODEL });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toMatch(/answered in \d+ events for 0\.0\d+ dollars, which the balance fell by\.\n$/);
  expect(Number((await gateway.balance()).balance_usd)).toBeLessThan(Number(before.balance_usd));
  expect(await gateway.calls()).toHaveLength(1);
});

test('without a model it takes the cheapest that has a price', async () => {
  await using gateway = await startTestGateway();
  expect(await makePaidCall(gateway, { FAREGATE_API_KEY: gateway.agent.key })).toMatchObject({ code: 0 });
});

test('without a key it says that it paid for nothing', async () => {
  await using gateway = await startTestGateway();
  const ran = await makePaidCall(gateway);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toMatch(/No call was paid for: test\.existingSecret/);
});

test.for([
  ['a key that nobody knows', { FAREGATE_API_KEY: 'sk-fg-nobody' }, /\/v1\/(models|balance) answered 401/],
  [
    'a model that is not served',
    { FAREGATE_MODEL: 'vendor/none' },
    /\/v1\/chat\/completions answered 400: .*unknown_model/,
  ],
  [
    'a gateway that is not there',
    { FAREGATE_INTERNAL_URL: 'http://127.0.0.1:1' },
    /\/readyz cannot be reached/,
  ],
] as const)('it fails in a sentence, and prints no key: %s', async ([, env, says]) => {
  await using gateway = await startTestGateway();
  const ran = await makePaidCall(gateway, { FAREGATE_API_KEY: gateway.agent.key, ...env });
  expect(ran.code).toBe(1);
  expect(ran.stderr).toMatch(says);
  expect(ran.stderr.split('\n')).toHaveLength(2);
  expect(ran.stdout + ran.stderr).not.toContain(gateway.agent.key);
});
