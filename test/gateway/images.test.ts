import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { formatUsd } from '#core/money.ts';
import { Upload } from '../../api/contract/upload.ts';
import {
  chargedUsd,
  readEvents,
  startTestGateway,
  type TestAgent,
  type TestGateway,
} from '../support/gateway.ts';

const PATH = '/images';
const PAINT = 'faregate-sim/paint';
const DEVELOP = 'faregate-sim/develop';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.running.deps.catalog.refresh();
});
afterAll(() => gateway.stop());

const ask = (extra: object = {}) => ({ model: PAINT, prompt: 'A red bicycle in the rain', ...extra });

const post = (body: object, agent: TestAgent = gateway.agent): Promise<Response> =>
  gateway.post(body, { agent, path: PATH });

async function made(body: object, agent?: TestAgent) {
  const answer = await post(body, agent);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return JSON.parse(text);
}

async function refusal(body: object, agent?: TestAgent) {
  const answer = await post(body, agent);
  return { status: answer.status, ...JSON.parse(await answer.text()).error };
}

const bytesAt = async (url: string): Promise<Buffer> => Buffer.from(await (await fetch(url)).arrayBuffer());
const isPng = (bytes: Buffer): boolean => bytes.subarray(1, 4).toString() === 'PNG';
const asReference = (url: string) => ({ type: 'image_url', image_url: { url } });

describe('images', () => {
  it('are behind links that live seven days, and cost what left the balance', async () => {
    const agent = await gateway.newAgent();
    const answer = await made(ask({ n: 2, resolution: '512' }), agent);
    expect(answer.data).toHaveLength(2);
    for (const { url, media_type: type, expires_at: expiresAt } of answer.data) {
      const file = await fetch(url);
      expect(file.headers.get('content-type')).toBe('image/png');
      expect(isPng(Buffer.from(await file.arrayBuffer()))).toBe(true);
      expect(type).toBe('image/png');
      const leftMs = Date.parse(expiresAt) - Date.now();
      expect(leftMs).toBeGreaterThan(7 * DAY_MS - 60_000);
      expect(leftMs).toBeLessThanOrEqual(7 * DAY_MS);
    }
    expect(answer.usage.cost).toBe(0.02);
    expect(formatUsd(gateway.provider.lastBill().costNanoUsd)).toBe('0.02');
    expect(chargedUsd(await gateway.settled(agent))).toBe('0.02');
  });

  it('come with `b64_json` themselves', async () => {
    const answer = await made(ask({ resolution: '512', response_format: 'b64_json' }));
    expect(isPng(Buffer.from(answer.data[0].b64_json, 'base64'))).toBe(true);
    expect(answer.data[0]).not.toHaveProperty('url');
  });

  it('are WebP where that is asked for', async () => {
    const answer = await made(ask({ output_format: 'webp', resolution: '512' }));
    expect(answer.data[0].media_type).toBe('image/webp');
    expect((await bytesAt(answer.data[0].url)).subarray(8, 12).toString()).toBe('WEBP');
  });

  it('are streamed with partial ones', async () => {
    const agent = await gateway.newAgent();
    const answer = await post({ ...ask({ resolution: '512' }), model: DEVELOP, stream: true }, agent);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = await readEvents(answer);
    expect(events.at(-1)).toBe('[DONE]');
    const seen = events.slice(0, -1).map((event) => JSON.parse(event));
    expect(seen.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    expect(isPng(await bytesAt(seen.at(-1).url))).toBe(true);
    expect(chargedUsd(await gateway.settled(agent))).toBe(String(seen.at(-1).usage.cost));
  });

  it('start from an upload of the agent’s own, and from an image that was made before', async () => {
    const agent = await gateway.newAgent();
    const first = await made(ask({ resolution: '512' }), agent);
    const bytes = await bytesAt(first.data[0].url);
    const started = await gateway.post(
      { content_type: 'image/png', size: bytes.length },
      { agent, path: '/uploads' },
    );
    const upload = Upload.parse(await started.json());
    const references = [asReference(upload.url), asReference(first.data[0].url)];
    const body = { ...ask(), model: DEVELOP, input_references: references };
    expect(await refusal(body, agent)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'input_references[0].image_url.url',
    });
    const put = {
      method: upload.upload_method,
      headers: upload.upload_headers,
      body: Uint8Array.from(bytes),
    };
    expect((await fetch(upload.upload_url, put)).ok).toBe(true);
    await made(body, agent);
    const sent = JSON.parse(gateway.provider.lastRequest(PATH).body.toString());
    // Nobody outside can reach this gateway's files.
    const url = `data:image/png;base64,${bytes.toString('base64')}`;
    expect(sent.input_references).toEqual([asReference(url), asReference(url)]);
    expect(await refusal(body, await gateway.newAgent())).toMatchObject({
      status: 400,
      param: 'input_references[0].image_url.url',
    });
  });

  it('leave a record of their call', async () => {
    const agent = await gateway.newAgent();
    const { usage } = await made(ask(), agent);
    await gateway.settled(agent);
    const [record] = await gateway.calls(agent);
    expect(record).toMatchObject({
      call: { model: PAINT, endpoint: 'images', stream: false },
      outcome: 'ok',
      errorCode: null,
    });
    expect(formatUsd(record?.chargedNanoUsd ?? 0n)).toBe(String(usage.cost));
  });

  it('that are refused cost nothing, and say why', async () => {
    const agent = await gateway.newAgent();
    expect(await refusal(ask({ quality: 'high' }), agent)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      type: 'invalid_request_error',
      param: 'quality',
    });
    expect(await refusal({ ...ask(), model: 'faregate-sim/pant' }, agent)).toMatchObject({
      code: 'unknown_model',
      param: 'model',
    });
    const metadata = { provider_name: 'SimCloud', finish_reason: 'PROHIBITED_CONTENT' };
    const body = JSON.stringify({ error: { code: 400, message: 'Provider returned error', metadata } });
    gateway.provider.next({ path: PATH, status: 400, body });
    expect(await refusal(ask(), agent)).toMatchObject({ status: 403, code: 'provider_refused' });
    gateway.provider.next({ path: PATH, cutAt: 'headers' });
    expect(await refusal(ask(), agent)).toMatchObject({ status: 502 });
    gateway.provider.next({ path: PATH, images: { type: 'garbage' }, billUsd: '0.01' });
    expect(await refusal(ask(), agent)).toMatchObject({ status: 502, code: 'provider_error' });
    expect(chargedUsd(await gateway.settled(agent))).toBe('0');
  });

  it('are priced by their lines where the provider names no cost', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ path: PATH, usageAt: 'missing' });
    const { usage } = await made(ask({ resolution: '2K' }), agent);
    expect(usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cost: 0.04 });
    expect(chargedUsd(await gateway.settled(agent))).toBe('0.04');
  });

  it('take a slot like any call, and hold what the dearest of them may cost', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ path: PATH, gate: 'image', gateAt: 'headers' });
    const running = made(ask({ n: 4 }), agent);
    await gateway.provider.reached('image');
    const { holds, runningCalls } = await gateway.view(agent);
    expect(runningCalls).toBe(1);
    expect(holds).toMatchObject([{ kind: 'image', nanoUsd: 160_000_000n }]);
    gateway.provider.release('image');
    await running;
    await gateway.settled(agent);
  });
});
