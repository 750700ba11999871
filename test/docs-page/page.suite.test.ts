import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { guides } from '../../api/docs-page/guides.ts';
import { desktop, shapes } from '../console/console-page.ts';
import { findBrowser } from '../console/find-browser.ts';
import { launchChromium } from '../console/launch-chromium.ts';
import { readText } from '../docs/repository-files.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const found = findBrowser();
const missing = 'missing' in found;
if (missing) console.warn(`\nSKIPPED: the documentation in a browser. ${found.missing}\n`);

/** The bar: of a reader who has nothing yet and reads all, the reference of the API included. */
const BYTES_MAX = 2_250_000;
const USABLE_WITHIN_MS = 1_000;
/** A busy machine is no slow page: the bar is measured and printed, and this alone is asserted. */
const LOOSELY_WITHIN_MS = 10 * USABLE_WITHIN_MS;
/**
 * By the page's own clock, which begins with the navigation: from outside, looks and clicks of the driver would be most of it.
 * Something is shown, then an entry of the contents is clicked, then its guide is in view. Noted where the driver sees it
 * without evaluating a text, which the page's policy forbids.
 */
const NOTE_WHEN_USABLE = `new PerformanceObserver((seen) => {
  const shown = seen.getEntriesByName('first-contentful-paint')[0];
  if (shown === undefined) return;
  document.querySelector('nav a[href="#errors"]').click();
  const look = () => {
    const { top } = document.querySelector('#errors').getBoundingClientRect();
    if (Math.abs(top) >= innerHeight / 2) return requestAnimationFrame(look);
    document.documentElement.dataset.shownMs = shown.startTime;
    document.documentElement.dataset.usableMs = performance.now();
  };
  requestAnimationFrame(look);
}).observe({ type: 'paint', buffered: true });`;

describe.skipIf(missing)('whoever reads the documentation', () => {
  let browser: Browser;
  let gateway: TestGateway;
  let url: string;
  let faults: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium(missing ? '' : found.chromium);
    gateway = await startTestGateway();
    url = new URL('/docs', gateway.baseUrl).href;
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    const seen = faults;
    faults = [];
    expect(seen).toEqual([]);
  });

  /** As without a network: whatever is asked of anybody but the gateway goes nowhere, and fails the test. */
  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: desktop, reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(60_000);
    const { origin } = new URL(url);
    await context.route(
      (asked) => asked.origin !== origin && asked.protocol !== 'data:',
      (route) => {
        faults.push(`request: ${route.request().url()}`);
        return route.abort();
      },
    );
    const page = await context.newPage();
    // A breach of the policy is an error there, too.
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('response', (res) => {
      if (res.status() >= 400) faults.push(`${res.status()}: ${res.url()}`);
    });
    return page;
  }

  const contents = (page: Page) => page.getByRole('navigation', { name: 'Contents' });
  const link = (page: Page, name: string) => contents(page).getByRole('link', { name, exact: true });

  async function showReference(page: Page): Promise<void> {
    await link(page, 'API reference').click();
    await page.locator('#api .opblock').last().waitFor();
  }

  /** @param options Of axe. */
  async function violations(page: Page, options: object = {}): Promise<string[]> {
    await page.evaluate(axe);
    return (await page.evaluate(
      `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.slice(0, 5).map(({ html, any: [first] }) => id + ': ' + html.slice(0, 150) + ' ' + (first?.message ?? ''))))`,
    )) as string[];
  }

  /** The reference takes itself for the whole page, and draws what it holds as the main part of one. */
  const ofOnePage = {
    rules: Object.fromEntries(
      ['landmark-main-is-top-level', 'landmark-no-duplicate-main', 'landmark-unique'].map((rule) => [
        rule,
        { enabled: false },
      ]),
    ),
  };

  const beside = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  it(`can use it within a second, and all of it is at most ${BYTES_MAX / 1e6} MB`, async () => {
    const page = await newPage();
    let wire = 0;
    let unpacked = 0;
    const counted: Promise<void>[] = [];
    page.on('requestfinished', (request) => {
      counted.push(
        (async () => {
          const { responseBodySize, responseHeadersSize } = await request.sizes();
          wire += responseBodySize + responseHeadersSize;
          unpacked += (await (await request.response())?.body())?.length ?? 0;
        })(),
      );
    });
    await page.addInitScript(NOTE_WHEN_USABLE);
    const started = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    const noted = page.locator('html[data-usable-ms]');
    await noted.waitFor({ state: 'attached' });
    const shownMs = Number(await noted.getAttribute('data-shown-ms'));
    const usableMs = Number(await noted.getAttribute('data-usable-ms'));
    const pageBytes = wire;
    await showReference(page);
    const allMs = performance.now() - started;
    await Promise.all(counted);
    console.log(
      `/docs: guides shown after ${shownMs.toFixed(0)} ms, contents answer after ${usableMs.toFixed(0)} ms (bar ${USABLE_WITHIN_MS}), ` +
        `${(pageBytes / 1e3).toFixed(0)} KB by then; with the reference and the test's own steps ${allMs.toFixed(0)} ms, ` +
        `${(wire / 1e6).toFixed(2)} MB on the wire and ${(unpacked / 1e6).toFixed(2)} MB unpacked (bar ${BYTES_MAX / 1e6})`,
    );
    expect(usableMs).toBeLessThan(LOOSELY_WITHIN_MS);
    expect(wire).toBeGreaterThan(400_000);
    expect(unpacked).toBeLessThanOrEqual(BYTES_MAX);
  });

  it('finds every guide in the contents, and behind each entry its place', async () => {
    const page = await newPage();
    await page.goto(url);
    const entries = contents(page).locator(':scope > ul > li > a');
    const places = await entries.evaluateAll((links) => links.map((each) => each.getAttribute('href')));
    expect(places).toEqual([...guides, 'reference'].map((name) => `#${name}`));
    const dead = await page.evaluate(
      `[...document.querySelectorAll('a[href^="#"]')].map((each) => each.getAttribute('href').slice(1))
        .filter((id) => document.getElementById(id) === null)`,
    );
    expect(dead).toEqual([]);
    const twice = await page.evaluate(
      "[...document.querySelectorAll('[id]')].map(({ id }) => id).filter((id, index, all) => all.indexOf(id) !== index)",
    );
    expect(twice).toEqual([]);
  });

  it('sees every operation of the document in the reference', async () => {
    const page = await newPage();
    await page.goto(`${url}#reference`);
    await page.locator('#api .opblock').last().waitFor();
    const shown = await page
      .locator('#api .opblock')
      .evaluateAll((blocks) =>
        blocks.map(
          (each) =>
            `${each.querySelector('.opblock-summary-method')?.textContent} ${each.querySelector('[data-path]')?.getAttribute('data-path')}`,
        ),
      );
    const { paths } = JSON.parse(readText('openapi/v1.json')) as { paths: Record<string, object> };
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((name) => ['get', 'post', 'put', 'patch', 'delete'].includes(name))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(shown.toSorted()).toEqual(documented.toSorted());
    await page.locator('#api .opblock-summary-control').first().click();
    await page.locator('#api .opblock-body').first().waitFor();
  });

  it('calls the API from the reference with a key of their own', async () => {
    const page = await newPage();
    await page.goto(`${url}#reference`);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.getByLabel('auth-bearer-value').fill(gateway.agent.key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Close' }).last().click();
    const balance = page.locator('#api .opblock').filter({ hasText: '/balance' });
    await balance.locator('.opblock-summary-control').click();
    await balance.getByRole('button', { name: 'Try it out' }).click();
    await balance.getByRole('button', { name: 'Execute' }).click();
    await balance.locator('.live-responses-table').getByText('spendable_usd').first().waitFor();
  });

  it('gets along with the keyboard alone', async () => {
    const page = await newPage();
    await page.goto(url);
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to the guides');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('location.hash')).toBe('#quickstart');
    await link(page, 'Money').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('location.hash')).toBe('#money');
    await expect.poll(() => link(page, 'Money').getAttribute('aria-current')).toBe('true');
    // From there on: the next that can be reached stands in the guide that was chosen.
    await page.keyboard.press('Tab');
    expect(
      await page.evaluate("document.activeElement.closest('section').getAttribute('aria-labelledby')"),
    ).toBe('money');
  });

  it('copies a block by its button', async () => {
    const page = await newPage({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(url);
    const sample = page.locator('.to-copy').nth(1);
    await sample.getByRole('button', { name: 'Copy: First call, block 1' }).click();
    await sample.getByText('Copied', { exact: true }).waitFor();
    // For who does not see the button.
    await page.getByRole('status').getByText('Copied').waitFor();
    const names = await page
      .getByRole('button', { name: 'Copy: ' })
      .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
    expect(names.length).toBeGreaterThan(30);
    expect(new Set(names).size).toBe(names.length);
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      await sample.locator('code').textContent(),
    );
    // The address of this gateway, not that of the file.
    expect(await sample.locator('code').textContent()).toContain(`${gateway.baseUrl}/chat/completions`);
  });

  it('reads the guides without any script', async () => {
    const page = await newPage({ javaScriptEnabled: false });
    await page.goto(url);
    await link(page, 'Migration').click();
    await page.getByRole('heading', { name: 'From OpenRouter' }).waitFor();
  });

  describe.each(shapes)('on a $size, $colorScheme', ({ viewport, colorScheme }) => {
    it('finds no fault of accessibility, and nothing beside the screen', async () => {
      const page = await newPage({ viewport, colorScheme });
      await page.goto(url);
      expect(await violations(page)).toEqual([]);
      expect(await beside(page)).toBe(0);
      await showReference(page);
      await page.locator('#api .opblock-summary-control').nth(3).click();
      await page.locator('#api .opblock-body .responses-table').first().waitFor();
      expect(await violations(page, ofOnePage)).toEqual([]);
      expect(await beside(page)).toBe(0);
    });
  });

  it('is shown in an image of the README', async () => {
    const folder = process.env.IMAGES ?? (await mkdtemp(join(tmpdir(), 'faregate-images-')));
    await mkdir(folder, { recursive: true });
    const page = await newPage({ viewport: { width: 1120, height: 760 } });
    await page.goto(`${url}#money`);
    await page.evaluate('document.fonts.ready');
    const bytes = await page.screenshot({ path: join(folder, 'docs-page.png') });
    expect(bytes.length).toBeLessThan(200_000);
    if (process.env.IMAGES === undefined) await rm(folder, { recursive: true });
  });
});
