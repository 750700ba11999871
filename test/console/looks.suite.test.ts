import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { hello, type TestAgent, until } from '../support/gateway.ts';
import { type ConsolePage, type PageId, pageIds, shapes } from './console-page.ts';
import { fakeMedia, imageModel, videoModel } from './fake-media.ts';
import { grantUntil } from './grant-until.ts';
import { describeInBrowser, sees } from './in-browser.ts';
import { newLabelledKey } from './new-labelled-key.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What a page says once it is there. */
const words: Readonly<Record<PageId, string>> = {
  balance: 'Spendable now',
  usage: 'By model',
  calls: 'Charged',
  keys: 'active keys',
  limits: 'Call starts a minute',
  market: 'The exchange is not open yet',
  playground: 'Your message',
  pictures: 'What to show',
  videos: 'What to show',
};

describeInBrowser('whoever uses the console', ({ gateway, show }) => {
  async function busyAgent(): Promise<TestAgent> {
    const agent = await gateway().newAgent();
    await gateway().newKey(agent.agentId, '2');
    await (await gateway().post(hello(), { agent })).text();
    gateway().provider.next({ status: 503, body: '{}' });
    await (await gateway().post(hello({ model: 'faregate-sim/large' }), { agent })).text();
    await gateway().settled(agent);
    return agent;
  }

  async function expectNoViolations({ page }: ConsolePage, where: string): Promise<void> {
    await page.evaluate(axe);
    const found = (await page.evaluate(
      `axe.run(document).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
    )) as string[];
    expect([where, found]).toEqual([where, []]);
  }

  async function expectNothingBeside({ page }: ConsolePage, where: string): Promise<void> {
    const beside = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect([where, beside]).toEqual([where, 0]);
  }

  describe.each(shapes)('on a $size, $colorScheme', ({ viewport, colorScheme }) => {
    it('finds no fault of accessibility, and nothing beside the screen', async () => {
      const closed = await show({ agent: null, viewport, colorScheme });
      await sees(closed, 'Open the console');
      await expectNoViolations(closed, 'sign in');
      await expectNothingBeside(closed, 'sign in');
      const console = await show({ agent: await busyAgent(), viewport, colorScheme });
      for (const id of pageIds) {
        await console.open(id);
        await sees(console, words[id]);
        await expectNoViolations(console, id);
        await expectNothingBeside(console, id);
      }
      await console.open('playground');
      await console.page.getByLabel('Your message').fill('Hello');
      await console.page.getByRole('button', { name: 'Send' }).click();
      await sees(console, 'Spendable now');
      await expectNoViolations(console, 'an answer');
      await expectNothingBeside(console, 'an answer');
    });

    it('nor in videos and images, whatever became of them', async () => {
      const console = await show({ agent: await gateway().newAgent(), viewport, colorScheme });
      const { page } = console;
      const long = `${'w'.repeat(60)}/${'x'.repeat(60)}`;
      const fake = await fakeMedia(console.context, {
        videos: [videoModel({ id: long, name: long })],
        images: [imageModel({ id: long, name: long })],
      });
      await console.open('videos');
      for (const [job, words] of [
        [{ status: 'in_progress' }, 'Being made'],
        [{ status: 'completed', usage: { cost: 0.3 } }, 'Play'],
        [{ status: 'failed', error: { code: 'timed_out' } }, 'Nothing was charged'],
        [{ status: 'expired', usage: { cost: 0.3 } }, 'Its file was deleted'],
      ] as const) {
        fake.job = job;
        await page.getByLabel('What to show').fill(`${job.status} ${long}`);
        await page.getByRole('button', { name: 'Order video' }).click();
        await sees(console, words);
      }
      await expectNoViolations(console, 'videos');
      await expectNothingBeside(console, 'videos');
      await console.open('pictures');
      fake.images = ['/files/pictures/fake1', '/files/pictures/fake2', '/files/pictures/fake3'];
      await page.getByLabel('What to show').fill(long);
      await page.getByRole('button', { name: 'Make images' }).click();
      await sees(console, 'Link ends in');
      await expectNoViolations(console, 'pictures');
      await expectNothingBeside(console, 'pictures');
    });

    it('nor in what opens over a page', async () => {
      const console = await show({ agent: await busyAgent(), viewport, colorScheme, page: 'calls' });
      const { page } = console;
      await page.getByRole('table').getByRole('button').first().click();
      await page.getByRole('dialog').waitFor();
      await expectNoViolations(console, 'a call');
      await page.keyboard.press('Escape');
      await console.open('keys');
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('A limit').check();
      await expectNoViolations(console, 'a new key');
      await page.getByLabel('Label').fill('x');
      await page.getByLabel('US dollars').fill('0');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('alert').waitFor();
      await expectNoViolations(console, 'a refusal');
      await page.getByLabel('US dollars').fill('1');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'I have stored it' }).waitFor();
      await expectNoViolations(console, 'the secret');
      await expectNothingBeside(console, 'the secret');
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('button', { name: 'Revoke' }).last().click();
      await expectNoViolations(console, 'a confirmation');
    });
  });

  it('finds nothing beside a small screen, however long names and amounts are', async () => {
    const agent = await gateway().newAgent({ creditUsd: '1234.567890123' });
    const endsMs = startOfDayMs(systemClock.now()) + 2 * DAY_MS;
    await grantUntil(gateway(), agent.agentId, endsMs, '80000.123456789');
    const longest = 'W'.repeat(60);
    const by = await newLabelledKey(gateway(), agent, longest, '999999.999999999');
    await (await gateway().post(hello(), { agent: by })).text();
    const console = await show({ agent, viewport: { width: 320, height: 640 } });
    const { page } = console;
    await page.route('**/mcp', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: (await answer.text()).replaceAll('Sim Small', longest) });
    });
    for (const id of pageIds) {
      await console.open(id);
      await sees(console, words[id]);
      await expectNothingBeside(console, id);
    }
    await console.open('keys');
    await page.getByRole('button', { name: `Revoke ${longest}` }).click();
    const beside = await page.evaluate(
      '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("dialog"))',
    );
    expect(beside).toBe(0);
  });

  it('needs no mouse', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent: null });
    const { page } = console;
    const { keyboard } = page;
    const focused = () =>
      page.evaluate(
        '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent).trim()',
      );
    const tabTo = async (name: string, most = 30) => {
      for (let i = 0; i < most && (await focused()) !== name; i++) await keyboard.press('Tab');
      expect(await focused()).toBe(name);
    };
    // The form takes the focus.
    await until(async () => (await page.evaluate('document.activeElement.id')) === 'key');
    await keyboard.type(agent.key);
    await keyboard.press('Enter');
    await sees(console, 'Spendable now');

    await tabTo('Skip to the page');
    await keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    await page.reload();
    await sees(console, 'Spendable now');
    await tabTo('Keys');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await until(async () => (await page.evaluate('document.activeElement.tagName')) === 'H1');
    expect(await focused()).toBe('Keys');

    await page.getByRole('button', { name: 'New key' }).waitFor();
    await tabTo('New key');
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    // The first field has the focus, Escape closes, and the focus is back where it was.
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Label');
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // A browser gives the focus back in a task of its own.
    await until(async () => (await focused()) === 'New key');

    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await keyboard.type('By keyboard');
    await keyboard.press('Tab');
    await keyboard.press('ArrowDown');
    await keyboard.press('Tab');
    await keyboard.type('5');
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    // Inside a dialog the focus goes round.
    await tabTo('I have stored it', 8);
    await keyboard.press('Enter');
    await sees(console, '2 of 10 active keys');

    await tabTo('Change By keyboard');
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await keyboard.press('ControlOrMeta+a');
    await keyboard.type('Renamed');
    await keyboard.press('Enter');
    await sees(console, 'The key “Renamed” was changed.');

    await tabTo('Revoke Renamed');
    await keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    // Enter alone keeps it.
    expect(await focused()).toBe('Keep it');
    await tabTo('Revoke key', 4);
    await keyboard.press('Enter');
    await sees(console, '1 of 10 active keys');

    await tabTo('Playground');
    await keyboard.press('Enter');
    await page.getByLabel('Your message').waitFor();
    for (let i = 0; i < 20 && (await page.evaluate('document.activeElement.id')) !== 'prompt'; i++)
      await keyboard.press('Tab');
    await keyboard.type('Hello');
    await keyboard.press('Enter');
    await page.getByRole('group', { name: 'Receipt' }).waitFor();
  });

  it('hears what happens: refusals as alerts, an answer once it is whole, a change by its sentence', async () => {
    const console = await show({ agent: await gateway().newAgent(), page: 'playground' });
    const { page } = console;
    gateway().provider.next({ chunks: 3, text: 'Word. ', gate: 'half', gateAt: 600 });
    await page.getByLabel('Your message').fill('Hello');
    await page.getByLabel('Your message').press('Enter');
    const log = page.getByRole('log', { name: 'Conversation' });
    await gateway().provider.reached('half');
    await until(async () => (await log.getAttribute('aria-busy')) === 'true');
    gateway().provider.release('half');
    await until(async () => (await log.getAttribute('aria-busy')) === 'false');
  });
});

const markup = [
  '<img src=x onerror="window.harmed=1">',
  '<script>window.harmed=1</script>',
  '"><svg onload=window.harmed=1>',
  'javascript:window.harmed=1',
  // Turned round: what stands behind it must not be.
  '\u202Egnihtyna\u202C',
] as const;

describeInBrowser(
  'names made of markup',
  ({ gateway, show }) => {
    it('are shown as they are, wherever they come from', async () => {
      const agent = await gateway().newAgent();
      const { ledger } = gateway().running.deps.store;
      const name = `${markup[0]} agent`;
      const renamed = await ledger.execute({
        ...{
          type: 'set_agent',
          mode: 'upsert',
          source: 'hostile',
          sourceVersion: 9,
          status: 'active',
          token: null,
        },
        ...{ agentId: agent.agentId, name },
      });
      await renamed.durable;
      for (const label of markup) {
        const by = await newLabelledKey(gateway(), agent, label);
        await (await gateway().post(hello({ model: 'evil/<b>model</b>' }), { agent: by })).text();
      }
      await gateway().settled(agent);
      const console = await show({ agent });
      const { page } = console;
      for (const id of pageIds) {
        await console.open(id);
        await sees(console, words[id]);
        if (id === 'keys' || id === 'calls')
          for (const each of markup.slice(0, 4))
            await page.getByText(each, { exact: true }).first().waitFor();
        if (id === 'calls' || id === 'usage')
          await page.getByText('<img src=x onerror="window.harmed=1"> model').first().waitFor();
        await unharmed(console);
      }
      await console.open('playground');
      await page.getByLabel('Model').fill('evil/<b>model</b>');
      gateway().provider.next({ chunks: 2, text: '<img src=x onerror="window.harmed=1">' });
      await page.getByLabel('Your message').fill('<script>window.harmed=1</script>');
      await page.getByLabel('Your message').press('Enter');
      await page.getByRole('group', { name: 'Receipt' }).waitFor();
      await page.locator('.text', { hasText: markup[0] }).waitFor();
      await unharmed(console);
    });

    async function unharmed({ page }: ConsolePage): Promise<void> {
      expect(await page.evaluate('window.harmed ?? null')).toBe(null);
      expect(
        await page.evaluate(
          'document.querySelectorAll("img, bdi b, .text b, script:not([src^=\'/console/\']), svg[onload]").length',
        ),
      ).toBe(0);
    }
  },
  {
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: sim, kind: simulator, cancel: bills_full, baseUrl: PROVIDER_URL }
models:
  - id: evil/<b>model</b>
    name: '<img src=x onerror="window.harmed=1"> model'
    contextLength: 32768
    maxOutputTokens: 4096
    endpoints:
      - { provider: sim, model: faregate-sim/small, pricing: { prompt: "0.0000001", completion: "0.0000004" } }
`,
  },
);
