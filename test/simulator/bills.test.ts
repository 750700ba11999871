import { expect, test } from 'vitest';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';
import { oddStreams, wrongCosts } from '../support/script-faults.ts';
import { rawCall, streamText } from './raw-call.ts';

const chat = (more: object = {}) => ({
  model: 'faregate-sim/small',
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});
const chatUrl = (provider: TestProvider): string => `${provider.baseUrl}/chat/completions`;
const get = async (url: string) => {
  const res = await fetch(url);
  return { status: res.status, text: await res.text() };
};

/** The number as it stands in the text, never through a float. */
const costText = (text: string): string | undefined => /"cost":([^,}]+)/.exec(text)?.[1];

test('the cost shown is tokens times list price, to the last digit', async () => {
  await using provider = await startTestProvider();
  provider.next({ promptTokens: 1_001, completionTokens: 37 });
  const { text } = await rawCall(chatUrl(provider), chat()).answer;
  // 1001 × $0.0000001 + 37 × $0.0000004
  expect(costText(text)).toBe('0.0001149');
  expect(provider.lastBill()).toMatchObject({ costUsd: '0.0001149', costNanoUsd: 114_900n });
});

test('a cost finer than a nano-dollar is shown whole, and its bill rounded up', async () => {
  await using provider = await startTestProvider();
  provider.next({ promptTokens: 101, cachedTokens: 50, completionTokens: 1 });
  const { text } = await rawCall(chatUrl(provider), chat({ model: 'faregate-sim/long' })).answer;
  // 51 × 37.5 + 50 × 9.3755 + 150 nano-dollars
  expect(costText(text)).toBe('0.000002531275');
  expect(provider.lastBill().costNanoUsd).toBe(2_532n);
});

test.each([
  [200_000, '0.0075'],
  [200_001, '0.015000075'],
])('a prompt of %i tokens to the long model costs $%s', async (promptTokens, cost) => {
  await using provider = await startTestProvider();
  provider.next({ promptTokens, completionTokens: 0 });
  const { text } = await rawCall(chatUrl(provider), chat({ model: 'faregate-sim/long' })).answer;
  expect(costText(text)).toBe(cost);
});

test('images, the call fee and reasoning have prices of their own', async () => {
  await using provider = await startTestProvider();
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
  provider.next({ promptTokens: 10, completionTokens: 0 });
  const vision = { model: 'faregate-sim/vision', messages: [{ role: 'user', content: [image, image] }] };
  await rawCall(chatUrl(provider), vision).answer;
  expect(provider.lastBill().costUsd).toBe('0.000815');
  provider.next({ promptTokens: 0, completionTokens: 10, reasoningTokens: 4 });
  await rawCall(chatUrl(provider), chat({ model: 'faregate-sim/thinker' })).answer;
  expect(provider.lastBill().costUsd).toBe('0.000044');
});

test.each(Object.entries(wrongCosts))(
  'a cost that is %s is shown as it is, and the true one is billed',
  async (_, raw) => {
    await using provider = await startTestProvider();
    for (const stream of [false, true]) {
      provider.next({ usageFields: { cost: raw }, promptTokens: 10, completionTokens: 10 });
      const { text } = await rawCall(chatUrl(provider), chat({ stream })).answer;
      expect(text).toContain(raw === null ? '"is_byok":false' : `"cost":${raw}`);
      if (raw === null) expect(text).not.toContain('"cost"');
      expect(provider.lastBill().costUsd).toBe('0.000005');
    }
  },
);

test('usage may be anything at all', async () => {
  await using provider = await startTestProvider();
  provider.next({ usageText: '"none of your business"' });
  const { text } = await rawCall(chatUrl(provider), chat()).answer;
  expect(JSON.parse(text).usage).toBe('none of your business');
});

test('a bill may differ from the cost that was shown', async () => {
  await using provider = await startTestProvider();
  provider.next({ billUsd: '0.25' });
  await rawCall(chatUrl(provider), chat()).answer;
  const id = provider.lastBill().generationId;
  expect(provider.lastBill().costNanoUsd).toBe(250_000_000n);
  expect((await get(`${provider.baseUrl}/generation?id=${id}`)).text).toContain('"total_cost":0.25,');
  expect((await get(`${provider.baseUrl}/key`)).text).toContain('"usage":0.25,');
});

test.each(Object.entries(oddStreams))('a stream with %s bills what its plain twin bills', async (_, rule) => {
  await using provider = await startTestProvider();
  provider.next({}, rule);
  const plain = await rawCall(chatUrl(provider), chat({ stream: true })).answer;
  const odd = await rawCall(chatUrl(provider), chat({ stream: true })).answer;
  const [first, second] = provider.billed();
  expect(second?.costUsd).toBe(first?.costUsd);
  expect(streamText(odd.text)).toBe(streamText(plain.text));
});

test('/generation answers 404 for its delay after the call, then the row', async () => {
  const clock = createFakeClock();
  await using provider = await startTestProvider({ clock, lookupDelayMs: 700 });
  const { headers } = await rawCall(chatUrl(provider), chat()).answer;
  const url = `${provider.baseUrl}/generation?id=${headers['x-generation-id']}`;
  expect((await get(url)).status).toBe(404);
  clock.advance(699);
  expect((await get(url)).status).toBe(404);
  clock.advance(1);
  const { status, text } = await get(url);
  expect(status).toBe(200);
  expect(JSON.parse(text).data).toMatchObject({
    id: headers['x-generation-id'],
    streamed: false,
    cancelled: false,
  });
  expect(text).toContain(`"total_cost":${provider.lastBill().costUsd},`);
});

test('a rule says how many look-ups miss, or that all do', async () => {
  await using provider = await startTestProvider();
  provider.next({ lookupMisses: 2 }, { lookupMisses: 'always' });
  const statuses = async (id: unknown) => {
    const url = `${provider.baseUrl}/generation?id=${id}`;
    return [(await get(url)).status, (await get(url)).status, (await get(url)).status];
  };
  const first = await rawCall(chatUrl(provider), chat()).answer;
  expect(await statuses(first.headers['x-generation-id'])).toEqual([404, 404, 200]);
  const second = await rawCall(chatUrl(provider), chat()).answer;
  expect(await statuses(second.headers['x-generation-id'])).toEqual([404, 404, 404]);
});

test.each([
  // 10 chunks were written: 50 bytes of text are 13 tokens. 10 prompt tokens cost as much as 2.5.
  ['delivered', '0.0000062'],
  ['all', '0.000041'],
] as const)('a stream whose reader leaves bills %s', async (hangUpBills, costUsd) => {
  await using provider = await startTestProvider();
  const text = '12345';
  const { headersToGate } = await gateAfterChunks(provider, 10, text);
  provider.next({ chunks: 80, text, promptTokens: 10, hangUpBills, gate: 'middle', gateAt: headersToGate });
  const call = rawCall(chatUrl(provider), chat({ stream: true }));
  await provider.reached('middle');
  call.hangUp();
  await provider.ended(2);
  expect(provider.lastRequest().state).toBe('hung_up');
  expect(provider.lastBill()).toMatchObject({ cancelled: true, streamed: true, costUsd });
});

/** How many bytes a stream of this text has before its chunk number `chunks + 1`. */
async function gateAfterChunks(provider: TestProvider, chunks: number, text: string) {
  provider.next({ chunks: 80, text });
  const whole = await rawCall(chatUrl(provider), chat({ stream: true })).answer;
  const events = whole.text.split('\n\n');
  // One comment and the role come first.
  return { headersToGate: Buffer.byteLength(events.slice(0, chunks + 2).join('\n\n')) + 2 };
}

test('a JSON answer bills in full when its reader leaves: it cannot be cancelled', async () => {
  await using provider = await startTestProvider();
  provider.next({ gate: 'thinking', promptTokens: 10, completionTokens: 100 });
  const call = rawCall(chatUrl(provider), chat());
  await provider.reached('thinking');
  call.hangUp();
  await provider.ended(1);
  expect(provider.lastBill()).toMatchObject({ cancelled: true, costUsd: '0.000041' });
});

test('failures bill nothing, an error inside a stream what was written before it', async () => {
  await using provider = await startTestProvider();
  provider.next(
    { status: 503, error: {} },
    { status: 200, error: {} },
    { cutAt: 'headers' },
    { chunks: 50, text: '1234', promptTokens: 10, error: { at: 'stream', afterChunks: 7 } },
  );
  for (let i = 0; i < 4; i++) await rawCall(chatUrl(provider), chat({ stream: true })).answer;
  // The 503 and the reset leave no generation at all, the 200 one that cost nothing.
  expect(provider.billed().map((call) => call.costUsd)).toEqual(['0', '0.0000038']);
});
