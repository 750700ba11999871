import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';

it('a client finds the API’s document at /openapi.json, and in it the address that it is at', async () => {
  await using gateway = await startTestGateway();
  const res = await fetch(new URL('/openapi.json', gateway.baseUrl));
  expect(res.status).toBe(200);
  const committed = JSON.parse(await readFile('openapi/v1.json', 'utf8'));
  expect(await res.json()).toEqual({ ...committed, servers: [{ url: gateway.baseUrl }] });
});
