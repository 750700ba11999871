import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Durability } from '#core/ledger/ledger.ts';
import { RESULT_LINK_MS, RESULTS_BYTES_MAX } from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import { isApiError } from '../../../api/contract/errors.ts';
import { noTokens } from '../../../api/inference/price/usage.ts';
import { STORAGE_REST_MS } from '../../../api/media/images/rest-after-failure.ts';
import { dialects } from '../../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../../api/providers/provider-kinds.ts';
import {
  answerText,
  ask,
  type ImageWorld,
  painter,
  png,
  settled,
  startWorld,
  usageText,
} from './image-world.ts';

const CENT = 10_000_000n;

/** A request that its provider answers whole. */
async function made(world: ImageWorld, body: object, text: string, options = {}) {
  world.confirm('durable');
  const running = world.start(body);
  await world.reply(text, options);
  const error = await running;
  return { error, answer: error === null ? JSON.parse(world.res.text) : null };
}

async function nothingHeld(world: ImageWorld): Promise<void> {
  const view = await world.view();
  expect([view.holds.length, view.runningCalls]).toEqual([0, 0]);
  expect([world.capacity.heldNanoUsd, world.capacity.runningCalls]).toEqual([0n, 0]);
  expect([world.openCalls.size, world.openCalls.usageDrains, world.openCalls.streams]).toEqual([0, 0, 0]);
}

describe('images answered as JSON', () => {
  it('come as links that live seven days, and their cost is what left the balance', async () => {
    const world = await startWorld();
    const images = [png(900), png(40, 3)];
    const text = answerText(images, usageText('0.0123456789'));
    const { answer } = await made(world, ask({ n: 2 }), text);
    const untilMs = world.clock.now() + RESULT_LINK_MS;
    expect(answer.data).toHaveLength(2);
    for (const entry of answer.data) {
      expect(entry).toEqual({
        url: expect.stringMatching(
          /^https:\/\/files\.test\/pictures\/\d{8}T\d\d\/1\/img_[0-9A-Za-z]{24}\.png$/,
        ),
        media_type: 'image/png',
        expires_at: new Date(untilMs).toISOString(),
      });
    }
    expect([...world.files.kept.values()]).toEqual(images);
    expect(answer.created).toBe(1_790_000_000);
    // Rounded up, once.
    expect(answer.usage).toEqual({
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      cost: 0.012345679,
    });
    expect((await world.view()).chargedNanoUsd).toBe(12_345_679n);
    expect(world.events('settled')).toMatchObject([
      { stored: { bytes: images.reduce((sum, each) => sum + each.length, 0), untilMs } },
    ]);
    await nothingHeld(world);
  });

  it('come as they are with `b64_json`, and nothing is stored', async () => {
    const world = await startWorld();
    const images = [png(901), png(77)];
    const { answer } = await made(
      world,
      ask({ n: 2, response_format: 'b64_json' }),
      answerText(images, usageText('0.02')),
    );
    expect(answer.data).toEqual(
      images.map((each) => ({ media_type: 'image/png', b64_json: each.toString('base64') })),
    );
    expect(answer.usage.cost).toBe(0.02);
    expect(world.files.kept.size).toBe(0);
    expect(world.events('settled')).not.toMatchObject([{ stored: expect.anything() }]);
    await nothingHeld(world);
  });

  it('hold their dearest price, and ask the one endpoint whose price that is', async () => {
    const world = await startWorld();
    const running = world.start(
      ask({ n: 3, resolution: '2K', input_references: [reference(1), reference(2)] }),
    );
    await settled();
    expect((await world.view()).holds).toMatchObject([
      { kind: 'image', nanoUsd: 3n * CENT + (2n * CENT) / 10n },
    ]);
    expect((await world.view()).runningCalls).toBe(1);
    const [request] = world.upstreams.requests;
    expect(request?.path).toBe('/images');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      model: 'acme/painter-1',
      prompt: 'a bicycle',
      n: 3,
      resolution: '2K',
      input_references: [reference(1), reference(2)],
      provider: { only: ['acme/fast'], allow_fallbacks: false },
    });
    world.confirm('durable');
    await world.reply(answerText([png(30)], usageText('0')));
    await running;
  });

  it.each([
    ['as a text', { type: 'enum', values: ['1', '4'] }, '4', 4n * CENT],
    ['as zero', { type: 'range', min: 0, max: 4 }, 0, CENT],
    ['with a fraction', { type: 'range', min: 0.5, max: 4 }, 1.5, 2n * CENT],
  ] as const)('hold no less where a model lists their number %s', async (_, listed, n, held) => {
    const model = painter({ parameters: new Map([['n', listed]]) });
    const world = await startWorld({ models: [model] });
    const running = world.start(ask({ n }));
    await settled();
    expect((await world.view()).holds).toMatchObject([{ nanoUsd: held }]);
    world.confirm('durable');
    await world.reply(answerText([png(30)], usageText('0')));
    await running;
  });

  it.each([
    ['fewer than were asked for cost what the provider says', 1, '0.007', 7_000_000n],
    ['an explicit zero stays zero', 2, '0', 0n],
    ['a missing cost is the price lines of what was delivered', 1, null, CENT],
    ['a cost that is no price counts as missing', 2, '-1', 2n * CENT],
    ['no more than the hold leaves the balance', 2, '99', 2n * CENT],
  ])('%s', async (_, delivered, cost, charged) => {
    const world = await startWorld();
    const images = Array.from({ length: delivered }, () => png(50));
    const { answer } = await made(world, ask({ n: 2 }), answerText(images, usageText(cost)));
    expect(answer.data).toHaveLength(delivered);
    expect(answer.usage.cost).toBe(Number(formatUsd(charged)));
    expect((await world.view()).chargedNanoUsd).toBe(charged);
  });

  it('the operator’s margin is inside what is charged', async () => {
    const world = await startWorld({ given: { priceFactorPpm: 1_100_000n } });
    const { answer } = await made(world, ask(), answerText([png(50)], usageText('0.005')));
    expect(answer.usage.cost).toBe(0.0055);
  });

  it('a plain server is not believed about costs', async () => {
    const world = await startWorld({ given: { kind: providerKinds.openai } });
    const { answer } = await made(world, ask(), answerText([png(50)], usageText('0.000001')));
    expect(answer.usage.cost).toBe(0.01);
  });

  it('a time of 0 is replaced by the call’s own', async () => {
    const world = await startWorld();
    const text = answerText([png(50)], usageText('0.005')).replace('1790000000', '0');
    const { answer } = await made(world, ask(), text);
    expect(answer.created).toBe(Math.floor(world.clock.now() / SECOND_MS));
  });

  it('what is no image by its first bytes is left out', async () => {
    const world = await startWorld();
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
    const { answer } = await made(world, ask({ n: 2 }), answerText([svg, png(50)], usageText('0.01')));
    expect(answer.data).toHaveLength(1);
    expect(world.files.kept.size).toBe(1);
  });
});

describe('a caller who leaves', () => {
  it('before the provider is asked pays nothing', async () => {
    const world = await startWorld();
    world.res.hangUp();
    await world.start(ask());
    expect(world.upstreams.requests).toEqual([]);
    expect((await world.view()).chargedNanoUsd).toBe(0n);
    await nothingHeld(world);
  });

  it('before the request is on a connection pays nothing, and the provider is never asked', async () => {
    const world = await startWorld();
    world.confirm('durable');
    const running = world.start(ask());
    await settled();
    world.res.hangUp();
    await running;
    const [request] = world.upstreams.requests;
    request?.upstream.onRequestStart(request.controller);
    expect(request?.controller.aborted).toBe(true);
    expect((await world.view()).chargedNanoUsd).toBe(0n);
    await nothingHeld(world);
  });

  it('pays what was made, and nothing of it stays', async () => {
    for (const response_format of ['url', 'b64_json']) {
      const world = await startWorld();
      world.confirm('durable');
      const running = world.start(ask({ response_format }));
      await settled();
      world.connect();
      world.res.hangUp();
      await settled();
      expect([world.openCalls.usageDrains, (await world.view()).runningCalls]).toEqual([1, 0]);
      await world.reply(answerText([png(900)], usageText('0.006')));
      await running;
      await settled();
      expect((await world.view()).chargedNanoUsd).toBe(6_000_000n);
      expect(world.events('settled')).toMatchObject([{ end: { outcome: 'stopped' } }]);
      expect(world.events('settled')[0]).not.toHaveProperty('stored');
      expect(world.files.kept.size).toBe(0);
      await nothingHeld(world);
    }
  });

  it('pays nothing for what fails all the same, nor for the images that it sent along', async () => {
    for (const options of [{ status: 400 }, { status: 500 }, { cutAt: 60 }]) {
      const world = await startWorld();
      world.confirm('durable');
      const running = world.start(ask({ input_references: [reference(1)] }));
      await settled();
      world.connect();
      world.res.hangUp();
      await world.reply(answerText([png(900)], null), options);
      await running;
      expect((await world.view()).chargedNanoUsd).toBe(0n);
      expect(world.pending).toEqual([]);
      await nothingHeld(world);
    }
  });

  it('is waited for longer than a text: five minutes, then the provider’s own record decides', async () => {
    const world = await startWorld();
    world.confirm('durable');
    const running = world.start(ask());
    await settled();
    const request = world.upstreams.requests[0];
    request?.upstream.onRequestStart(request.controller);
    request?.upstream.onResponseStart(request.controller, 200, {
      'content-type': 'application/json',
      'x-generation-id': 'gen-1',
    });
    request?.upstream.onResponseData(request.controller, Buffer.from('{"created":1,'));
    await settled();
    world.res.hangUp();
    for (let minute = 0; minute < 4; minute++) {
      world.clock.advance(MINUTE_MS);
      await settled();
    }
    expect(request?.upstream.ended).toBe(false);
    world.clock.advance(2 * MINUTE_MS);
    await running;
    await settled();
    expect(request?.upstream.ended).toBe(true);
    expect(world.pending).toHaveLength(1);
    expect(world.events('finished')).toMatchObject([{ pending: { generationId: 'gen-1' } }]);
    expect((await world.view()).holds).toHaveLength(1);
  });
});

it('an answer of images that breaks off in the middle ends so that no client takes it for whole', async () => {
  const world = await startWorld();
  world.confirm('durable');
  const running = world.start(ask({ response_format: 'b64_json' }));
  await world.reply(answerText([png(900)], usageText('0.01')), { cutAt: 600 });
  expect(await running).toBeNull();
  expect(world.res.destroyed).toBe(true);
  expect(world.res.ended).toBe(false);
  expect((await world.view()).chargedNanoUsd).toBe(0n);
  expect(world.events('settled')).toMatchObject([
    { end: { outcome: 'failed', errorCode: 'provider_error' } },
  ]);
  await nothingHeld(world);
});

it('a caller who takes images so slowly that the time of the call runs out pays for what was made', async () => {
  const world = await startWorld();
  world.confirm('durable');
  const running = world.start(ask({ n: 4, response_format: 'b64_json' }));
  const images = [png(900), png(901), png(902), png(400_000)];
  await world.reply(answerText(images.slice(0, 3), null).slice(0, -2), { part: true });
  world.res.flowing = false;
  void world.reply(`,{"b64_json":"${images[3]?.toString('base64')}"`, {
    begun: true,
    size: 30_000,
    part: true,
  });
  for (let half = 0; half < 26; half++) {
    await settled();
    world.clock.advance(MINUTE_MS / 2);
    world.res.emit('drain');
  }
  await running;
  expect(world.res.text).toContain(png(902).toString('base64'));
  expect(world.res.destroyed).toBe(true);
  // What they cost its provider has on record.
  expect(world.events('finished')).toMatchObject([{ pending: { generationId: 'gen-1' } }]);
  expect(world.pending).toHaveLength(1);
});

it('a caller who takes partial images so slowly that the time of the call runs out pays what the provider records', async () => {
  const world = await startWorld();
  world.confirm('durable');
  const running = world.start(ask({ stream: true }));
  world.res.flowing = false;
  const event = { type: 'image_generation.partial_image', b64_json: png(900).toString('base64') };
  void world.reply(`data: ${JSON.stringify(event)}\n\n`, { type: 'text/event-stream', part: true });
  for (let half = 0; half < 60; half++) {
    await settled();
    world.clock.advance(MINUTE_MS / 2);
    world.res.emit('drain');
  }
  await running;
  expect(world.res.text).toContain(event.b64_json);
  expect(world.res.text).toContain('upstream_timeout');
  expect(world.events('finished')).toMatchObject([
    { end: { outcome: 'failed' }, pending: { generationId: 'gen-1' } },
  ]);
});

it('a caller who takes nothing holds the provider back, too', async () => {
  const world = await startWorld();
  world.confirm('durable');
  const running = world.start(ask({ response_format: 'b64_json' }));
  world.res.flowing = false;
  const whole = answerText([png(400_000)], usageText('0.01'));
  const replied = world.reply(whole, { size: 30_000 });
  await settled(30);
  const request = world.upstreams.requests[0];
  expect(request?.controller.paused).toBe(true);
  expect(world.res.text.length).toBeLessThan(100_000);
  world.res.flowing = true;
  world.res.emit('drain');
  await replied;
  await running;
  expect(JSON.parse(world.res.text).data[0].b64_json).toBe(png(400_000).toString('base64'));
});

it('an image of the agent’s own that the provider cannot reach is sent in the place of its link', async () => {
  const world = await startWorld({ given: { dialect: dialects.vllm } });
  const path = 'uploads/20990101T00/1/upl_000000000000000000000000.png';
  world.files.kept.set(path, png(20));
  const own = { type: 'image_url', image_url: { url: `https://files.test/${path}` } };
  const running = world.start(ask({ input_references: [own] }));
  await settled();
  const sent = JSON.parse(world.upstreams.requests[0]?.body ?? '');
  const url = `data:image/png;base64,${png(20).toString('base64')}`;
  expect(sent.input_references).toEqual([{ type: 'image_url', image_url: { url } }]);
  world.confirm('durable');
  await world.reply(answerText([png(30)], usageText('0')));
  await running;
});

describe('a request for images that fails is free', () => {
  it('a busy model is refused with what helps here, and fallback models do not: no such field is taken', async () => {
    const world = await startWorld();
    const { error } = await made(world, ask(), '{"error":{"message":"busy"}}', { status: 429 });
    expect(error?.code).toBe('model_busy');
    expect(error?.message).toContain('or choose another');
    expect(error?.message).not.toContain('fallback');
  });

  const broken: [string, string, object, string][] = [
    ['no image in the answer', answerText([], usageText('0.01')), {}, 'provider_error'],
    ['nothing that is an image', answerText([Buffer.from('hello')], usageText('0.01')), {}, 'provider_error'],
    ['no JSON', 'oops', {}, 'provider_error'],
    ['base64 that is none', '{"data":[{"b64_json":"iVBORw0KGgo*"}]}', {}, 'provider_error'],
    ['an error with status 200', '{"error":{"code":429,"message":"busy"}}', {}, 'model_busy'],
    [
      'content that the provider refuses',
      '{"error":{"code":400,"message":"Provider returned error","metadata":{"provider_name":"Google","finish_reason":"PROHIBITED_CONTENT"}}}',
      { status: 400 },
      'provider_refused',
    ],
    [
      'our money at the provider',
      '{"error":{"code":402,"message":"credits"}}',
      { status: 402 },
      'gateway_capacity',
    ],
    ['our key at the provider', '{"error":{"message":"no"}}', { status: 401 }, 'gateway_unavailable'],
    ['a server’s fault', '', { status: 500 }, 'upstream_error'],
    ['an answer by events', 'data: {}\n\n', { type: 'text/event-stream' }, 'provider_error'],
  ];
  it.each(broken)('%s', async (_, text, options, code) => {
    for (const response_format of ['url', 'b64_json']) {
      const world = await startWorld();
      const { error } = await made(world, ask({ n: 2, response_format }), text, options);
      expect(error?.code).toBe(code);
      expect(JSON.stringify(error)).not.toContain('Google');
      expect((await world.view()).chargedNanoUsd).toBe(0n);
      expect(world.res.getHeader('x-hold-usd')).toBe('0.02');
      expect(world.files.kept.size).toBe(0);
      await nothingHeld(world);
    }
  });

  it('storage that is down is a fault of the gateway’s, and the bill is counted as its loss', async () => {
    const world = await startWorld();
    world.files.down = true;
    const { error } = await made(world, ask(), answerText([png(900)], usageText('0.009')));
    expect(error?.code).toBe('gateway_error');
    expect((await world.view()).chargedNanoUsd).toBe(0n);
    expect(world.losses).toEqual([{ cause: 'free_failure', nanoUsd: 9_000_000n }]);
    expect(world.faults).toEqual(['an image could not be stored']);
    await nothingHeld(world);
  });

  it('nobody has a provider paid again and again for images that cannot be stored', async () => {
    const world = await startWorld();
    world.files.down = true;
    await made(world, ask(), answerText([png(900)], usageText('0.009')));
    const refused = await world.start(ask());
    expect(refused).toMatchObject({ code: 'gateway_unavailable' });
    expect(refused?.message).toContain('b64_json');
    expect(world.upstreams.requests).toHaveLength(1);
    await nothingHeld(world);

    // What needs no storage is made, and so is the next image once storage may work again.
    const sent = world.start(ask({ response_format: 'b64_json' }));
    await world.reply('{}', { status: 500 });
    expect((await sent)?.code).toBe('upstream_error');
    world.files.down = false;
    world.clock.advance(STORAGE_REST_MS);
    const kept = world.start(ask());
    await world.reply(answerText([png(900)], usageText('0.009')));
    await kept;
    expect(world.files.kept.size).toBe(1);
  });

  it('a provider whose answer breaks off is no fault of the storage', async () => {
    const world = await startWorld();
    world.confirm('durable');
    const cut = world.start(ask());
    await world.reply(answerText([png(900)], usageText('0.009')), { cutAt: 200 });
    expect((await cut)?.code).toBe('provider_error');
    const next = world.start(ask());
    await world.reply('{}', { status: 500 });
    expect((await next)?.code).toBe('upstream_error');
  });

  it('a hold that the journal does not take leaves no answer, no charge and no file', async () => {
    for (const response_format of ['url', 'b64_json']) {
      const world = await startWorld();
      const running = world.start(ask({ response_format }));
      // More than may wait for the gate.
      await world.reply(answerText([png(200_000)], usageText('0.009')), { size: 50_000 });
      world.confirm('unknown');
      await settled();
      const error = await running;
      await settled();
      expect(isApiError(error) && error.code).toBe('service_unavailable');
      expect(world.res.status).toBeNull();
      expect((await world.view()).chargedNanoUsd).toBe(0n);
      expect(world.files.kept.size).toBe(0);
      await nothingHeld(world);
    }
  });
});

it('an answer that is cut at any byte is free, and leaves nothing behind', async () => {
  const whole = answerText([png(20), png(12)], usageText('0.013'));
  for (let cutAt = 0; cutAt < whole.length; cutAt++) {
    for (const response_format of ['url', 'b64_json']) {
      const world = await startWorld();
      world.confirm('durable');
      const running = world.start(ask({ n: 2, response_format }));
      await world.reply(whole, { cutAt, size: 64 });
      await running;
      await settled(2);
      expect((await world.view()).chargedNanoUsd).toBe(0n);
      expect(world.events('settled')).toMatchObject([{ end: { outcome: 'failed' } }]);
      expect(world.res.ended).toBe(false);
      expect(world.files.kept.size).toBe(0);
      await nothingHeld(world);
    }
  }
});

it('an agent whose stored images fill their room is told when there is some again', async () => {
  const world = await startWorld();
  world.confirm('durable');
  const running = world.start(ask());
  await settled();
  const [hold] = (await world.view()).holds;
  const untilMs = world.clock.now() + RESULT_LINK_MS;
  // As if this one had filled it.
  await world.memory.execute({
    type: 'settle',
    agentId: 1,
    callId: hold?.callId ?? 0,
    costNanoUsd: 0n,
    end: { outcome: 'ok', httpStatus: null, errorCode: null, tokens: noTokens, durationMs: 1 },
    cause: 'end',
    stored: { bytes: RESULTS_BYTES_MAX, untilMs },
  });
  await world.reply('{}', { status: 500 });
  await running;
  const refused = await world.start(ask());
  expect(refused).toMatchObject({ code: 'rate_limited', shouldRetry: false });
  expect(refused?.message).toContain('5 GB');
  expect(refused?.retryAfterMs).toBeGreaterThan(RESULT_LINK_MS - 2 * HOUR_MS);
  world.clock.advance(RESULT_LINK_MS + HOUR_MS);
  await world.memory.execute({
    type: 'grant',
    agentId: 1,
    grantId: 'later',
    expiresAtMs: Math.floor(world.clock.now() / DAY_MS + 2) * DAY_MS,
    nanoUsd: CENT,
  });
  const later = world.start(ask());
  await world.reply('{}', { status: 500 });
  expect((await later)?.code).toBe('upstream_error');
});

it('an operator whose key is refused is told so', async () => {
  const world = await startWorld();
  await made(world, ask(), '{"error":{"message":"no"}}', { status: 401 });
  expect(world.warnings).toEqual(['calls of a model fail: its provider refuses our key or our account']);
});

it('wherever an answer is cut, whoever leaves and whenever: one end, nothing held, and what is shown is what was charged', async () => {
  const images = [png(120), png(60, 9)];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('url', 'b64_json'),
      fc.constantFrom('0.013', '0', '7', null),
      fc.boolean(),
      fc.option(fc.nat(), { nil: null }),
      fc.integer({ min: 1, max: 80 }),
      fc.option(fc.nat({ max: 60 }), { nil: null }),
      fc.constantFrom<Durability>('durable', 'durable', 'unknown'),
      async (response_format, cost, usageFirst, cut, size, hangUpAfter, durability) => {
        const world = await startWorld();
        const usage = usageText(cost);
        const whole = usageFirst
          ? `{"usage":${usage},${answerText(images, null).slice(1)}`
          : answerText(images, usage);
        const cutAt = cut === null ? -1 : cut % whole.length;
        world.confirm(durability);
        const running = world.start(ask({ n: 2, response_format }));
        const leaves = (async () => {
          if (hangUpAfter === null) return;
          await settled(hangUpAfter);
          world.res.hangUp();
        })();
        await settled();
        if (world.upstreams.requests.length > 0) await world.reply(whole, { size, cutAt });
        await leaves;
        for (let passed = 0; passed < 6 * MINUTE_MS; passed += MINUTE_MS / 4) {
          world.clock.advance(MINUTE_MS / 4);
          await settled(2);
        }
        const error = await running;
        await settled();

        const ends = world.memory.journal.filter(({ type }) => type === 'settled' || type === 'finished');
        expect(ends).toHaveLength(1);
        const view = await world.view();
        expect(view.holds.length).toBe(world.pending.length);
        expect(view.runningCalls).toBe(0);
        expect(view.chargedNanoUsd).toBeLessThanOrEqual(2n * CENT);
        expect([world.openCalls.size, world.openCalls.usageDrains]).toEqual([0, 0]);
        expect(world.capacity.heldNanoUsd).toBe(0n);
        expect(world.faults).toEqual([]);
        if (durability === 'unknown') expect([world.res.status, view.chargedNanoUsd]).toEqual([null, 0n]);
        if (cutAt >= 0 && hangUpAfter === null) expect(view.chargedNanoUsd).toBe(0n);
        const isWhole = world.res.ended && error === null;
        if (isWhole) {
          const shown = JSON.parse(world.res.text);
          expect(formatUsd(view.chargedNanoUsd)).toBe(String(shown.usage.cost));
          expect(shown.data).toHaveLength(2);
        }
        // Files stay only for whoever has their links.
        expect(world.files.kept.size).toBe(isWhole && response_format === 'url' ? 2 : 0);
      },
    ),
    { numRuns: 300 },
  );
});

const reference = (n: number) => ({ type: 'image_url', image_url: { url: `https://example.com/${n}.png` } });
