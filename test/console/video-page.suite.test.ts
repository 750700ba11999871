import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { phone } from './console-page.ts';
import { fakeMedia, videoModel } from './fake-media.ts';
import { describeInBrowser, sees } from './in-browser.ts';

/** What a gateway may answer, and what a person then reads; `media.suite.test.ts` tries it with real videos. */
const seen = (state: 'hidden' | 'visible'): string =>
  `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
   document.dispatchEvent(new Event('visibilitychange'))`;

async function order(page: Page, prompt: string): Promise<void> {
  await page.getByLabel('What to show').fill(prompt);
  await page.getByRole('button', { name: 'Order video' }).click();
}

const focused = async (page: Page): Promise<string> =>
  String(
    await page.evaluate(
      '[document.activeElement.getAttribute("aria-label"), document.activeElement.labels?.[0]?.textContent, document.activeElement.textContent].join(" ")',
    ),
  );

describeInBrowser('the page of videos', ({ gateway, show }) => {
  async function open(models: unknown[] = [videoModel()], viewport = phone) {
    const console = await show({ agent: await gateway().newAgent(), page: 'balance', viewport });
    const fake = await fakeMedia(console.context, { videos: models });
    await console.page.clock.install();
    await console.open('videos');
    await sees(console, 'From $0.10');
    return { console, page: console.page, fake };
  }

  it('orders exactly what was chosen', async () => {
    const { console, page, fake } = await open();
    await page.getByLabel('Length').selectOption('8 s');
    await page.getByLabel('Resolution').selectOption('720p');
    await page.getByLabel('Aspect ratio').selectOption('9:16');
    await page.getByLabel('Sound').selectOption('With sound');
    await page.getByLabel('Seed').fill('7');
    await page.getByLabel('What to show').fill('A harbour at dawn');
    await page.getByRole('button', { name: 'Order video' }).click();
    await sees(console, 'Waiting to begin');
    // Far below the form of a phone.
    await until(() =>
      page
        .getByText('Waiting to begin')
        .boundingBox()
        .then((box) => (box?.y ?? 0) < phone.height),
    );
    await sees(console, 'the most that it can cost $0.40');
    expect(fake.orders.map(({ body }) => body)).toEqual([
      {
        ...{ model: 'fake/video', prompt: 'A harbour at dawn', duration: 8, resolution: '720p' },
        ...{ aspect_ratio: '9:16', generate_audio: true, seed: 7 },
      },
    ]);
  });

  it('takes a model that is typed while the list of models arrives', async () => {
    const console = await show({ agent: await gateway().newAgent(), page: 'balance' });
    await fakeMedia(console.context, { videos: [videoModel()] });
    const { page } = console;
    const listed = Promise.withResolvers<void>();
    await page.route('**/v1/videos/models', async (route) => {
      await listed.promise;
      await route.fallback();
    });
    await console.open('videos');
    const model = page.getByLabel('Model');
    await model.focus();
    listed.resolve();
    await until(async () => (await model.inputValue()) === 'fake/video');
    await page.keyboard.type('acme/clip');
    expect(await model.inputValue()).toBe('acme/clip');
  });

  it('keeps what is typed while an order is on its way', async () => {
    const { console, page } = await open();
    const answered = Promise.withResolvers<void>();
    await page.route('**/v1/videos', async (route) => {
      await answered.promise;
      await route.fallback();
    });
    await order(page, 'A boat');
    await sees(console, 'Ordering…');
    await page.getByLabel('What to show').fill('A harbour');
    answered.resolve();
    await sees(console, 'Waiting to begin');
    expect(await page.getByLabel('What to show').inputValue()).toBe('A harbour');
    await page.getByRole('button', { name: 'Order video' }).click();
    await until(() =>
      page
        .getByText('Waiting to begin')
        .count()
        .then((videos) => videos === 2),
    );
    expect(await page.getByLabel('What to show').inputValue()).toBe('');
  });

  it('asks each ten seconds while it is seen, until the video has ended', async () => {
    const { console, page, fake } = await open();
    await order(page, 'A boat');
    await sees(console, 'Waiting to begin');
    const id = `vid_${'1'.padStart(20, '0')}`;
    const reads = () => fake.reads.get(id) ?? 0;
    await until(() => reads() === 1);
    fake.job = { status: 'in_progress' };
    await page.clock.fastForward(9_000);
    expect(reads()).toBe(1);
    await page.clock.fastForward(1_000);
    await sees(console, 'Being made');
    expect(reads()).toBe(2);
    await page.evaluate(seen('hidden'));
    await page.clock.fastForward(60_000);
    expect(reads()).toBe(2);
    await page.evaluate(seen('visible'));
    await until(() => reads() === 3);
    fake.job = { status: 'completed', usage: { cost: 0.300000001 }, expires_at: '2099-01-01T00:00:00Z' };
    await page.clock.fastForward(10_000);
    await sees(console, /Charged \$0\.30\s?0000001 Given back \$0\.09\s?9999999/);
    await page.getByRole('button', { name: 'Play: A boat' }).waitFor();
    await page.clock.fastForward(60_000);
    expect(reads()).toBe(4);
  });

  it('sends an order that was never answered again as the same one', async () => {
    const { console, page, fake } = await open();
    fake.nextOrder = (route) => route.abort();
    await order(page, 'A boat');
    await sees(console, 'No answer came');
    await page.getByRole('button', { name: 'Order video' }).click();
    await sees(console, 'Waiting to begin');
    await order(page, 'A boat');
    await until(() => fake.orders.length === 3);
    const [first, again, another] = fake.orders.map(({ idempotencyKey }) => idempotencyKey);
    expect(first).toMatch(/^[\w-]{8,64}$/);
    expect(again).toBe(first);
    expect(another).not.toBe(first);
  });

  it('says in words why a video failed, and that it cost nothing', async () => {
    const { console, page, fake } = await open();
    fake.job = { status: 'failed', error: { code: 'content_refused' } };
    await order(page, 'A boat');
    await sees(console, 'The model refused what was asked for.');
    await sees(console, 'Nothing was charged. content_refused');
    await sees(console, 'Charged $0.00 Given back $0.40');
    await page.getByRole('button', { name: 'Remove from this list' }).click();
    await sees(console, 'No videos in this tab yet');
  });

  it('shows a refused order in the words of the gateway, and keeps what was typed', async () => {
    const { console, page, fake } = await open();
    const error = {
      message: 'This video may cost $9.',
      type: 'x',
      param: null,
      code: 'insufficient_balance',
    };
    fake.nextOrder = (route) => route.fulfill({ status: 402, json: { error } });
    await order(page, 'A boat');
    await sees(console, 'This video may cost $9.');
    expect(await page.getByLabel('What to show').inputValue()).toBe('A boat');
  });

  it('knows its videos after a reload, and forgets them with the key', async () => {
    const { console, page, fake } = await open();
    await order(page, 'A boat');
    await sees(console, 'Waiting to begin');
    fake.job = { status: 'in_progress' };
    await page.reload();
    await sees(console, 'A boat');
    await sees(console, 'Being made');
    await page.getByRole('button', { name: 'Forget key' }).click();
    await sees(console, 'Open the console');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('lets go of a video that the gateway no longer knows', async () => {
    const { console, page, fake } = await open();
    await order(page, 'A boat');
    await sees(console, 'Waiting to begin');
    fake.unknown = true;
    await page.reload();
    await sees(console, 'There is no such video. not_found');
    await page.getByRole('button', { name: 'Remove from this list' }).click();
    await sees(console, 'No videos in this tab yet');
    await page.reload();
    await sees(console, 'No videos in this tab yet');
  });

  it('shows names made of markup as they are', async () => {
    const harm = '<img src=x onerror="window.harmed=1">';
    const { console, page, fake } = await open([
      videoModel({ id: harm, name: harm, supported_resolutions: [harm], supported_aspect_ratios: [harm] }),
    ]);
    fake.job = { status: 'failed', error: { code: harm } };
    await page.getByLabel('What to show').fill(harm);
    await page.getByRole('button', { name: 'Order video' }).click();
    await sees(console, `Nothing was charged. ${harm}`);
    expect(await page.evaluate('[window.harmed ?? null, document.images.length]')).toEqual([null, 0]);
    const beside = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(beside)).toBe(0);
  });

  it('asks for another link when one has ended, and says so where none can be followed', async () => {
    const { console, page, fake } = await open();
    fake.job = { status: 'completed', usage: { cost: 0.1 }, expires_at: '2099-01-01T00:00:00Z' };
    await order(page, 'A boat');
    const play = page.getByRole('button', { name: 'Play: A boat' });
    fake.content = (route) =>
      route.fulfill({ status: 404, json: { error: { message: 'Not yet.', code: 'not_ready' } } });
    await play.click();
    await sees(console, 'Not yet. not_ready');
    fake.content = (route) => route.abort();
    await play.click();
    await sees(console, 'The file could not be reached.');
    // What is there is no film, as the answer to a link that has ended meanwhile.
    fake.content = (route) => route.fulfill({ status: 302, headers: { location: '/console/icon.svg' } });
    await play.click();
    await sees(console, 'The file could not be played. If its link has ended, a new one will do.');
    await play.waitFor();
  });

  it('needs no mouse', async () => {
    const { console, page, fake } = await open();
    fake.job = { status: 'completed', usage: { cost: 0.1 }, expires_at: '2099-01-01T00:00:00Z' };
    const tabTo = async (what: string) => {
      for (let i = 0; i < 20 && !(await focused(page)).includes(what); i++) await page.keyboard.press('Tab');
      expect(await focused(page)).toContain(what);
    };
    await page.getByRole('link', { name: 'Videos' }).focus();
    await tabTo('Length');
    await page.keyboard.press('ArrowDown');
    await tabTo('What to show');
    await page.keyboard.type('A boat');
    await tabTo('Order video');
    await page.keyboard.press('Enter');
    await sees(console, 'Done');
    await tabTo('Play: A boat');
    expect(fake.orders[0]?.body).toMatchObject({ duration: 8, prompt: 'A boat' });
  });

  it('says so where no model of videos is served', async () => {
    const console = await show({ agent: await gateway().newAgent(), page: 'balance' });
    await fakeMedia(console.context, {});
    await console.open('videos');
    await sees(console, 'No models of videos');
  });
});
