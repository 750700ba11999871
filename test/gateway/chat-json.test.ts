import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatUsd } from '#core/money.ts';
import { chargedUsd, hello, MODEL, startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

describe('a chat completion answered as JSON', () => {
  it('answers the official client, and its usage.cost is exactly what left the balance', async () => {
    const agent = await gateway.newAgent();
    const before = await gateway.balance(agent);
    const answer = await agent.openai.chat.completions.create(hello());

    expect(answer.object).toBe('chat.completion');
    expect(answer.choices[0]?.message.content).toContain('Hello');
    const cost = costOf(answer);
    expect(cost).toBe(formatUsd(gateway.provider.lastBill().costNanoUsd));
    const after = await gateway.balance(agent);
    expect(nano(before.spendable_usd) - nano(after.spendable_usd)).toBe(nano(cost));
    expect(after.reserved_usd).toBe('0');
    expect(after.running_calls).toBe(0);
  });

  it('names the call, the answer and the hold in its headers', async () => {
    const res = await gateway.post(hello({ max_tokens: 10 }));
    expect(res.status).toBe(200);
    expect(res.headers.get('content-type')).toBe('application/json');
    expect(res.headers.get('x-service-call-id')).toMatch(/^\d{10,16}$/);
    expect(res.headers.get('x-request-id')).toBe(res.headers.get('x-service-call-id'));
    expect(res.headers.get('x-generation-id')).toBe(gateway.provider.lastBill().generationId);
    expect(res.headers.get('cache-control')).toBe('no-store');
    expect(nano(res.headers.get('x-hold-usd'))).toBeGreaterThan(0n);
  });

  it('shows nothing of what the provider charged the operator', async () => {
    gateway.provider.next({
      usageFields: { cost_details: '{"upstream_inference_cost":1}', is_byok: 'false' },
    });
    const res = await gateway.post(hello());
    const { usage } = JSON.parse(await res.text());
    expect(Object.keys(usage)).not.toContain('cost_details');
    expect(Object.keys(usage)).not.toContain('is_byok');
  });

  it('passes every field that it does not own byte for byte, both ways', async () => {
    const body = `{"model":"${MODEL}", "messages":[{"role":"user","content":"caf\\u00e9"}],"seed":12345678901234567890,"top_p":1.0,"x_own":{"a":[1e2, 1E-7 ]}}`;
    const res = await gateway.post(body);
    expect(res.status).toBe(200);
    const sent = gateway.provider.lastRequest().body.toString();
    for (const part of [
      '"messages":[{"role":"user","content":"caf\\u00e9"}]',
      '"seed":12345678901234567890',
      '"top_p":1.0',
      '"x_own":{"a":[1e2, 1E-7 ]}',
    ]) {
      expect(sent).toContain(part);
    }
    const text = await res.text();
    const wanted = `"choices":${JSON.stringify(JSON.parse(text).choices)}`;
    expect(text).toContain(wanted);
  });

  it('writes the cap that its hold was made of into the request', async () => {
    await gateway.post(hello());
    expect(gateway.provider.lastBody().max_tokens).toBeGreaterThan(0);
    await gateway.post(hello({ max_tokens: 7 }));
    expect(gateway.provider.lastBody().max_tokens).toBe(7);
  });

  it('sends the provider its own key, and nothing of the caller', async () => {
    await gateway.post(hello(), {
      headers: { 'x-forwarded-for': '1.2.3.4', cookie: 'a=b', 'x-session-id': 's' },
    });
    const { headers, body } = gateway.provider.lastRequest();
    const text = JSON.stringify(headers) + body.toString();
    expect(text).not.toContain(gateway.agent.key);
    for (const name of ['x-forwarded-for', 'cookie', 'x-session-id', 'x-api-key', 'authorization']) {
      expect(Object.keys(headers)).not.toContain(name);
    }
  });

  it('leaves a record with every field of the spec', async () => {
    const agent = await gateway.newAgent();
    const answer = await agent.openai.chat.completions.create(hello({ max_tokens: 20 }));
    const [record, ...others] = await gateway.calls(agent);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      agentId: agent.agentId,
      key: { keyId: agent.keyId, label: 'test', prefix: agent.key.slice(0, 12) },
      call: { model: MODEL, endpoint: 'chat/completions', stream: false },
      outcome: 'ok',
      httpStatus: null,
      errorCode: null,
      tokens: {
        prompt: answer.usage?.prompt_tokens,
        completion: answer.usage?.completion_tokens,
      },
      chargedNanoUsd: nano(costOf(answer)),
    });
    expect(record?.reservedNanoUsd).toBeGreaterThan(record?.chargedNanoUsd ?? 0n);
    expect(record?.call.modelName).not.toBe('');
  });

  it('charges ten calls at once exactly their sum', async () => {
    const agent = await gateway.newAgent();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => agent.openai.chat.completions.create(hello({ max_tokens: 30 }))),
    );
    const shown = answers.reduce((sum, answer) => sum + nano(costOf(answer)), 0n);
    const view = await gateway.settled(agent);
    expect(view.chargedNanoUsd).toBe(shown);
    expect(chargedUsd(view)).toBe(formatUsd(shown));
  });
});

const costOf = (answer: { usage?: object | undefined }): string => {
  const { usage } = answer;
  if (usage === undefined || !('cost' in usage)) throw new Error('no cost shown');
  // A double holds these amounts exactly; its shortest text is the amount.
  return formatUsd(BigInt(Math.round(Number(usage.cost) * 1e9)));
};

function nano(text: string | null | undefined): bigint {
  const [whole = '', fraction = ''] = (text ?? '').split('.');
  return BigInt(whole + fraction.padEnd(9, '0'));
}
