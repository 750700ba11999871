import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { answerText, ask, type ImageWorld, png, settled, startWorld, usageText } from './image-world.ts';

const SSE = { type: 'text/event-stream' };
const b64 = (bytes: Buffer): string => bytes.toString('base64');
const data = (...events: (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
const partial = (index: number, bytes: Buffer) => ({
  type: 'image_generation.partial_image',
  partial_image_index: index,
  b64_json: b64(bytes),
});
/** The cost stands as its text: no float comes in between. */
const completed = (bytes: Buffer, cost: string | null, more = ''): string =>
  `{"type":"image_generation.completed","b64_json":"${b64(bytes)}","media_type":"image/png","created":1790000000${more},"usage":${usageText(cost)}}`;

async function streamed(world: ImageWorld, body: object, text: string, options = {}) {
  world.confirm('durable');
  const running = world.start(ask({ stream: true, ...body }));
  await world.reply(text, { ...SSE, ...options });
  const error = await running;
  const parts = world.res.text.split('\n\n').filter((part) => part.startsWith('data: '));
  const events = parts.map((part) => part.slice('data: '.length));
  return { error, events: events.map((event) => (event === '[DONE]' ? event : JSON.parse(event))) };
}

const first = png(100, 1);
const second = png(200, 2);
const final = png(300, 3);
const whole = `: hello\n\n${data(partial(0, first), partial(1, second), completed(final, '0.0066'), '[DONE]')}`;

describe('a streamed image', () => {
  it('shows its partial images, then its link with what left the balance', async () => {
    const world = await startWorld();
    const { events } = await streamed(world, {}, whole);
    expect(events).toEqual([
      { ...partial(0, first), media_type: 'image/png' },
      { ...partial(1, second), media_type: 'image/png' },
      {
        type: 'image_generation.completed',
        url: expect.stringContaining('https://files.test/pictures/'),
        media_type: 'image/png',
        expires_at: expect.any(String),
        created: 1_790_000_000,
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: 0.0066 },
      },
      '[DONE]',
    ]);
    expect([...world.files.kept.values()]).toEqual([final]);
    expect((await world.view()).chargedNanoUsd).toBe(6_600_000n);
    expect(world.events('settled')).toMatchObject([{ stored: { bytes: final.length } }]);
    expect(world.res.head).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
  });

  it('shows the image itself with `b64_json`, and stores nothing', async () => {
    const world = await startWorld();
    const { events } = await streamed(world, { response_format: 'b64_json' }, whole);
    expect(events.at(-2)).toMatchObject({ b64_json: b64(final), media_type: 'image/png' });
    expect(world.files.kept.size).toBe(0);
  });

  it('asks the provider for a stream, and passes on none of its other events', async () => {
    const world = await startWorld();
    const chunk = { type: 'image_generation.text_chunk', phase: 'draft', text: 'secret' };
    const { events } = await streamed(world, {}, data(chunk, { type: 'new' }, completed(final, '0.001')));
    expect(JSON.parse(world.upstreams.requests[0]?.body ?? '').stream).toBe(true);
    expect(events).toHaveLength(2);
  });

  it.each([
    ['\r\n', whole.replaceAll('\n', '\r\n')],
    ['no blank line at the end', data(completed(final, '0.0066')).trimEnd()],
    ['no [DONE]', data(completed(final, '0.0066'))],
    [
      'its usage in an event of its own',
      `${data(completed(final, null))}data: {"usage":${usageText('0.0066')}}\n\n`,
    ],
  ])('is understood with %s', async (_, text) => {
    const world = await startWorld();
    const { events } = await streamed(world, {}, text);
    expect(events.at(-2).usage.cost).toBe(0.0066);
    expect(events.at(-1)).toBe('[DONE]');
  });

  it('whose provider answers by the whole is a stream all the same', async () => {
    const world = await startWorld();
    const text = answerText([final], usageText('0.002'));
    const { events } = await streamed(world, {}, text, { type: 'application/json' });
    expect(events).toMatchObject([{ type: 'image_generation.completed', usage: { cost: 0.002 } }, '[DONE]']);
  });

  it('that fails after it has begun ends with an error, and is free', async () => {
    const failure = { type: 'error', error: { code: 502, message: 'Acme broke' } };
    for (const text of [data(partial(0, first), failure), data(partial(0, first))]) {
      const world = await startWorld();
      const { error, events } = await streamed(world, {}, text);
      expect(error).toBeNull();
      expect(events.slice(1)).toEqual([
        { type: 'error', error: expect.objectContaining({ code: 'provider_error', type: 'server_error' }) },
        '[DONE]',
      ]);
      expect(JSON.stringify(events)).not.toContain('Acme');
      expect((await world.view()).chargedNanoUsd).toBe(0n);
    }
  });

  it('that fails before it has begun is answered by its status', async () => {
    const world = await startWorld();
    const failure = { type: 'error', error: { code: 429, message: 'busy' } };
    const { error } = await streamed(world, {}, data(failure));
    expect(error?.code).toBe('model_busy');
    expect(world.res.status).toBeNull();
  });

  it('whose image cannot be stored is free', async () => {
    const world = await startWorld();
    world.files.down = true;
    const { events } = await streamed(world, {}, whole);
    expect(events.at(-2)).toMatchObject({ type: 'error', error: { code: 'gateway_error' } });
    expect((await world.view()).chargedNanoUsd).toBe(0n);
    expect(world.losses).toEqual([{ cause: 'free_failure', nanoUsd: 6_600_000n }]);
  });

  it('waits for the journal before its first byte', async () => {
    const world = await startWorld();
    const running = world.start(ask({ stream: true }));
    await world.reply(whole, SSE);
    await settled();
    expect(world.res.status).toBeNull();
    world.confirm('unknown');
    expect(await running).toMatchObject({ code: 'service_unavailable' });
    expect(world.res.status).toBeNull();
    expect(world.files.kept.size).toBe(0);
  });
});

it('wherever a stream is cut and whenever its caller leaves: one end, nothing held, what is shown is what was charged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.nat(), { nil: null }),
      fc.integer({ min: 5, max: 200 }),
      fc.option(fc.nat({ max: 60 }), { nil: null }),
      fc.constantFrom('url', 'b64_json'),
      async (cut, size, hangUpAfter, response_format) => {
        const world = await startWorld();
        world.confirm('durable');
        const running = world.start(ask({ stream: true, response_format }));
        const leaves = (async () => {
          if (hangUpAfter === null) return;
          await settled(hangUpAfter);
          world.res.hangUp();
        })();
        await settled();
        const cutAt = cut === null ? -1 : cut % whole.length;
        if (world.upstreams.requests.length > 0) await world.reply(whole, { ...SSE, size, cutAt });
        await leaves;
        for (let passed = 0; passed < 24; passed++) {
          world.clock.advance(MINUTE_MS / 4);
          await settled(2);
        }
        await running;
        await settled();
        const ends = world.memory.journal.filter(({ type }) => type === 'settled' || type === 'finished');
        expect(ends).toHaveLength(1);
        const view = await world.view();
        expect([view.holds.length, view.runningCalls]).toEqual([world.pending.length, 0]);
        expect([world.openCalls.size, world.openCalls.usageDrains, world.openCalls.streams]).toEqual([
          0, 0, 0,
        ]);
        expect(world.faults).toEqual([]);
        const isShown = world.res.ended && world.res.text.includes('completed');
        if (isShown) expect(view.chargedNanoUsd).toBe(6_600_000n);
        if (!isShown && hangUpAfter === null) expect(view.chargedNanoUsd).toBe(0n);
        expect(world.files.kept.size).toBe(isShown && response_format === 'url' ? 1 : 0);
      },
    ),
    { numRuns: 300 },
  );
});
