import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';

/* The provider writes the end of its response some time after the end mark of its answer, as most servers do. */

const piece = (choices: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`;
const ANSWER = [
  piece([{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }]),
  piece([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  piece([], { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } }),
  'data: [DONE]\n\n',
].join('');

const sockets = new Set<Socket>();
const answers: ServerResponse[] = [];
let opened = 0;
const provider = createServer((req, res) => {
  req.resume().on('end', () => {
    answers.push(res.writeHead(200, { 'content-type': 'text/event-stream' }));
    res.write(ANSWER);
  });
}).on('connection', (socket: Socket) => {
  opened++;
  sockets.add(socket.once('close', () => sockets.delete(socket)));
});

// The clock stands still, so the tests do not depend on how busy the machine is.
const clock = createFakeClock();
let gateway: TestGateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  gateway = await startTestGateway({
    clock,
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: own, kind: openai, dialect: vllm, cancel: stops_billing, baseUrl: "http://127.0.0.1:${port}/v1" }]
models:
  - { id: acme/one, contextLength: 4096, maxOutputTokens: 64, endpoints: [{ provider: own, model: m, pricing: { prompt: "0.000001", completion: "0.000001" } }] }
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});
beforeEach(async () => {
  provider.closeAllConnections();
  await until(() => sockets.size === 0);
  answers.length = 0;
  opened = 0;
});

describe.each(FORMATS)('%s: the provider’s connection', (format) => {
  const call = async (stream: boolean): Promise<ServerResponse> => {
    const asked = answers.length;
    const res = await gateway.post(requestIn(format, 'acme/one', { stream }), { path: pathOf(format) });
    expect([res.status, (await res.text()).includes('hi')]).toEqual([200, true]);
    expect(answers).toHaveLength(asked + 1);
    const [answer] = answers.slice(-1);
    if (answer === undefined) throw new Error('nothing was asked');
    return answer;
  };

  it.each([true, false])(
    'serves the next calls, although the response ended after the answer (stream: %s)',
    async (stream) => {
      for (let calls = 0; calls < 6; calls++) {
        const answer = await call(stream);
        await new Promise<void>((resolve) => answer.once('close', () => resolve()).end());
        await gateway.settled();
      }
      // The client may open a second one while it has not read the end of the first response.
      expect(opened).toBeLessThanOrEqual(2);
    },
  );

  it('is closed where the response goes on behind the end mark', async () => {
    const answer = await call(true);
    answer.write(': still here\n\n');
    await gateway.settled();
    expect(sockets.size).toBe(1);
    clock.advance(SECOND_MS);
    await until(() => sockets.size === 0);
    expect(answer.writableEnded).toBe(false);
  });
});
