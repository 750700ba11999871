import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS, type MachineClock, startOfDayMs, systemClock } from '#core/clock.ts';
import { createGatewayClient } from '../../api/admin/cli/gateway-client.ts';
import { simulateMarket } from '../../api/admin/cli/market/simulate-market.ts';
import { hello, type TestAgent } from '../support/gateway.ts';
import { type ConsoleOptions, type ConsolePage, phone } from './console-page.ts';
import { grantUntil } from './grant-until.ts';
import { describeInBrowser, sees } from './in-browser.ts';
import { newLabelledKey } from './new-labelled-key.ts';
import { expectImages, makeImages, orderVideo, untilSeen } from './real-media.ts';

/*
 * The images of the README, of a week that was really lived through: `IMAGES=docs vitest run --project suite
 * test/console/images.suite.test.ts` writes them. Without it they are made all the same, so that they can be made.
 */
const WEEK = 7;
const IMAGE_BYTES = 150_000;
const desktop = { width: 1120, height: 760 };

/** The machine sleeps from one day to the next, so that its clock makes no jump. */
let daysAgo = WEEK - 1;
const pastClock: MachineClock = {
  ...systemClock,
  now: () => systemClock.now() - daysAgo * DAY_MS,
  uptimeMs: () => systemClock.uptimeMs() + (WEEK - daysAgo) * DAY_MS,
};

const models = [
  { id: 'acme/quick-2', name: 'Acme Quick 2', upstream: 'faregate-sim/small', factor: 3, weight: 6 },
  { id: 'harbour/thinker', name: 'Harbour Thinker', upstream: 'faregate-sim/large', factor: 25, weight: 3 },
  {
    id: 'northwind/write-xl',
    name: 'Northwind Write XL',
    upstream: 'faregate-sim/small',
    factor: 60,
    weight: 2,
  },
];

const yaml = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: sim, kind: openai, dialect: other, cancel: bills_full, baseUrl: PROVIDER_URL, catalog: none }
  - { id: media, kind: simulator, baseUrl: PROVIDER_URL }
models:${models
  .map(
    ({ id, name, upstream, factor }) => `
  - id: ${id}
    name: ${name}
    contextLength: 131072
    maxOutputTokens: 8192
    endpoints:
      - { provider: sim, model: ${upstream}, pricing: { prompt: "${(factor * 1e-7).toFixed(9)}", completion: "${(factor * 4e-7).toFixed(9)}" } }`,
  )
  .join('')}
`;

const story =
  'A fare gate holds the dearest fare when you walk in, because it cannot know where you will get off. When you walk out, ' +
  'it charges the ride that you really took and gives the rest back.\n\nPrepaid calls work alike: the worst case is held ' +
  'before the first word, and the real cost is charged after the last one.';

describeInBrowser(
  'the images of the README',
  ({ gateway, show }) => {
    let folder: string;
    let agent: TestAgent;

    beforeAll(async () => {
      folder = process.env.IMAGES ?? (await mkdtemp(join(tmpdir(), 'faregate-images-')));
      await mkdir(folder, { recursive: true });
      const made = await gateway().newAgent({ creditUsd: '0' });
      await rename(made, 'Harbour Bot');
      agent = await newLabelledKey(gateway(), made, 'Support desk');
      await liveThroughAWeek();
    });
    afterAll(async () => {
      if (process.env.IMAGES === undefined) await rm(folder, { recursive: true });
    });

    async function rename({ agentId }: TestAgent, name: string): Promise<void> {
      const { durable } = await gateway().running.deps.store.ledger.execute({
        ...{
          type: 'set_agent',
          mode: 'upsert',
          source: 'test',
          sourceVersion: 2,
          status: 'active',
          token: 'HARBOUR',
        },
        ...{ agentId, name },
      });
      await durable;
    }

    async function liveThroughAWeek(): Promise<void> {
      const ci = await newLabelledKey(gateway(), agent, 'Nightly reports', '4');
      for (daysAgo = WEEK - 1; daysAgo >= 0; daysAgo -= 1) {
        const endsMs = startOfDayMs(pastClock.now()) + 8 * DAY_MS;
        await grantUntil(gateway(), agent.agentId, endsMs, `${(1.1 + ((daysAgo * 5) % 7) / 3).toFixed(4)}`);
        for (const [index, { id, weight }] of models.entries()) {
          for (let i = 0; i < weight + ((daysAgo * 3 + index) % 4); i++) {
            const key = i % 3 === 0 ? ci : agent;
            const completionTokens = 180 + ((daysAgo * 131 + i * 57) % 900);
            gateway().provider.next({ text: 'Done.', completionTokens, promptTokens: 900 + i * 410 });
            const body = hello({ model: id, stream: i % 2 === 0, max_tokens: 2048 });
            await (await gateway().post(body, { agent: key })).text();
          }
        }
      }
      daysAgo = 0;
      gateway().provider.next({ status: 503, body: '{"error":{"message":"busy"}}' });
      await (await gateway().post(hello({ model: 'harbour/thinker' }), { agent: ci })).text();
      await gateway().settled(agent);
    }

    async function take(name: string, options: ConsoleOptions, ready: string): Promise<void> {
      const console = await show({ agent, ...options });
      await sees(console, ready);
      await console.page.waitForLoadState('networkidle');
      await shoot(console, name);
    }

    async function shoot({ page }: ConsolePage, name: string): Promise<void> {
      const path = join(folder, `console-${name}.png`);
      await page.screenshot({ path });
      expect((await stat(path)).size).toBeLessThan(IMAGE_BYTES);
    }

    it('show the balance, and when it ends', async () => {
      await take('balance', { page: 'balance', viewport: desktop }, 'Left after it');
      await take('balance-phone', { page: 'balance', viewport: phone, colorScheme: 'dark' }, 'Left after it');
    });

    it('show usage by day and model', async () => {
      await take('usage', { page: 'usage', viewport: desktop, colorScheme: 'dark' }, 'Northwind');
      await take('usage-phone', { page: 'usage', viewport: phone }, 'Northwind');
    });

    it('show calls and keys', async () => {
      await take('calls', { page: 'calls', viewport: desktop }, 'Northwind');
      await take('calls-phone', { page: 'calls', viewport: phone }, 'Northwind');
      await take('keys', { page: 'keys', viewport: desktop, colorScheme: 'dark' }, 'active keys');
      await take('keys-phone', { page: 'keys', viewport: phone }, 'active keys');
    });

    it('show images, and a video that is done before one that is being made', async () => {
      for (const [size, options] of [
        ['', { viewport: desktop }],
        ['-phone', { viewport: phone, colorScheme: 'dark' }],
      ] as const) {
        const console = await show({ agent, page: 'pictures', ...options });
        await makeImages(console, 'A harbour at dawn, seen from the sea');
        await expectImages(console, 2);
        await shoot(console, `images${size}`);
        await console.open('videos');
        await orderVideo(console, 'A harbour at dawn, seen from the sea');
        await untilSeen(console, 'Done');
        gateway().provider.next({ path: '/videos', video: { end: 'never' } });
        await orderVideo(console, 'The last train leaves the station');
        await untilSeen(console, 'Being made');
        await shoot(console, `videos${size}`);
      }
    });

    it('show a market that trades', async () => {
      const { internalUrl, adminToken: token } = gateway().running;
      const client = createGatewayClient({ url: `${internalUrl}/admin`, token }, 'test');
      const rates = { tradesPerSecond: 20, changesPerSecond: 40, forSeconds: 6 };
      await simulateMarket({ client, clock: systemClock, seed: 7, ...rates, tell: () => {} });
      for (const [name, options] of [
        ['market', { viewport: { ...desktop, height: 840 } }],
        ['market-phone', { viewport: phone, colorScheme: 'dark' }],
      ] as const) {
        const console = await show({ agent, ...options });
        await console.open('market');
        await sees(console, 'Spread');
        // The chart draws itself in a later frame.
        await console.page.locator('.candle-chart-box canvas').first().waitFor();
        await console.page.evaluate(
          'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
        );
        await shoot(console, name);
      }
    });

    it('show an answer with its receipt', async () => {
      for (const [name, options] of [
        ['playground', { viewport: desktop }],
        ['playground-phone', { viewport: phone, colorScheme: 'dark' }],
      ] as const) {
        const console = await show({ agent, page: 'playground', ...options });
        gateway().provider.next({ text: story, promptTokens: 31, completionTokens: 84 });
        await console.page.getByLabel('Model').fill('northwind/write-xl');
        await console.page.getByLabel('Your message').fill('Why is a prepaid gateway like a fare gate?');
        await console.page.getByLabel('Your message').press('Enter');
        await sees(console, 'Spendable now');
        await console.page.evaluate('scrollTo(0, 0)');
        await shoot(console, name);
      }
    });
  },
  { clock: pastClock, yaml },
);
