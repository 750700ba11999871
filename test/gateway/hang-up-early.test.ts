import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { startTestGateway, until } from '../support/gateway.ts';
import { type HangUpWorld, modelOf, startHangUpWorld } from '../support/hang-up-world.ts';

/* Callers who leave before their answer has begun: the provider is let go all the same, in whatever it is being asked. */

let world: HangUpWorld;
beforeAll(async () => {
  world = await startHangUpWorld('stops_billing');
});
afterAll(() => world[Symbol.asyncDispose]());

describe.each(FORMATS)('%s: a caller who leaves while a fallback runs', (format) => {
  it.each([true, false])(
    'closes that one, pays its prompt alone, and asks nobody else (stream: %s)',
    async (stream) => {
      const agent = await world.gateway.newAgent();
      const models = [modelOf('openai, all formats'), modelOf('anthropic')];
      const { answer: first, hangUp } = await world.call('openai', format, {
        stream,
        agent,
        more: { models },
      });
      first.refuse(503);
      const asked = world.provider.answers.length;
      await until(() => world.provider.answers.length > asked);
      const second = world.provider.answers.at(-1);
      hangUp();
      await second?.closed;
      const { chargedNanoUsd } = await world.gateway.settled(agent);
      expect(chargedNanoUsd).toBeGreaterThan(0n);
      expect(chargedNanoUsd).toBeLessThan(40n * 123n);
      expect(world.provider.answers.length).toBe(asked + 1);
      expect((await world.gateway.calls(agent))[0]?.outcome).toBe('stopped');
    },
  );
});

it('a caller who leaves while its body is being sent closes the provider’s connection', async () => {
  const sockets: Socket[] = [];
  // Takes the head, and then reads no further.
  const server = createServer((socket) => {
    sockets.push(socket.once('data', () => socket.pause()).on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await using gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: slow, kind: openai, baseUrl: "http://127.0.0.1:${port}/v1" }]
models:
  - { id: acme/slow, contextLength: 4194304, maxOutputTokens: 64, endpoints: [{ provider: slow, model: m, pricing: { prompt: "0.0000000001", completion: "0.0000000001" } }] }
`,
  });
  const hangUp = new AbortController();
  const body = requestIn('chat', 'acme/slow', {
    messages: [{ role: 'user', content: 'x'.repeat(3_500_000) }],
  });
  const call = gateway.post(body, { signal: hangUp.signal }).catch(() => null);
  await until(() => sockets.length === 1);
  const [socket] = sockets;
  hangUp.abort();
  await call;
  await gateway.settled();
  expect((await gateway.calls())[0]?.outcome).toBe('stopped');
  const closed = new Promise((resolve) => socket?.once('close', resolve));
  socket?.resume();
  await closed;
  await new Promise((resolve) => server.close(resolve));
});
