import { expect, it } from 'vitest';
import { hello, startTestGateway } from '../support/gateway.ts';
import { rawRequest } from '../support/raw-http.ts';

it('even what is no request is answered under the operator’s name for the call id, on both ports', async () => {
  await using gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1, callIdHeader: x-acme-call }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
`,
  });
  for (const address of [gateway.baseUrl, gateway.running.internalUrl]) {
    const answer = await rawRequest(Number(new URL(address).port), ['GET / HTTP/1.1']);
    expect(answer?.status).toBe(400);
    expect(answer?.headers['x-acme-call']).toMatch(/^\d{10,16}$/);
    expect(answer?.headers['x-request-id']).toBe(answer?.headers['x-acme-call']);
  }
});

it('a call id that the operator calls x-request-id is sent once, whatever is answered', async () => {
  await using gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1, callIdHeader: x-request-id }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
`,
  });
  for (const body of [hello(), hello({ stream: true }), {}]) {
    const res = await gateway.post(body);
    expect(res.headers.get('x-request-id')).toMatch(/^\d{10,16}$/);
    await res.text();
  }
});
