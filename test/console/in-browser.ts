import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { type ConsoleOptions, type ConsolePage, openConsole } from './console-page.ts';
import { findBrowser } from './find-browser.ts';
import { launchChromium } from './launch-chromium.ts';

/** What tests of the console work with: a real gateway, and consoles opened on it. */
export interface InBrowser {
  gateway(): TestGateway;
  show(options?: ConsoleOptions): Promise<ConsolePage>;
}

/**
 * A group of tests in Chromium; skipped where the machine has none, which CI counts as a failure. Each test also fails
 * if a script failed, a policy was breached, or anything was asked of anybody but the gateway.
 */
export function describeInBrowser(
  name: string,
  tests: (use: InBrowser) => void,
  options: TestGatewayOptions = {},
): void {
  const found = findBrowser();
  const missing = 'missing' in found;
  if (missing) console.warn(`\nSKIPPED: ${name}. ${found.missing}\n`);

  describe.skipIf(missing)(name, () => {
    let gateway: TestGateway | null = null;
    let browser: Browser | null = null;
    let opened: ConsolePage[] = [];
    const running = <T>(value: T | null): T => {
      if (value === null) throw new Error('Only a running test has it.');
      return value;
    };

    beforeAll(async () => {
      browser = await launchChromium(missing ? '' : found.chromium);
      gateway = await startTestGateway(options);
    });
    afterAll(async () => {
      await browser?.close();
      await gateway?.stop();
    });
    afterEach(async () => {
      const faults = opened.flatMap((each) => each.faults);
      for (const each of opened) await each.context.close();
      opened = [];
      gateway?.provider.reset();
      expect(faults).toEqual([]);
    });

    tests({
      gateway: () => running(gateway),
      async show(wanted) {
        const shown = await openConsole(running(browser), running(gateway), wanted);
        opened.push(shown);
        return shown;
      },
    });
  });
}

/** Ends a wait that would never end; a busy machine may need most of it. */
const SEES_WITHIN_MS = 60_000;

/** Waits until these words are to be read on the page, lines and columns in one row. */
export async function sees({ page }: ConsolePage, words: string | RegExp): Promise<void> {
  const endsAt = performance.now() + SEES_WITHIN_MS;
  for (;;) {
    const text = (await page.locator('body').innerText()).replaceAll(/\s+/g, ' ');
    if (typeof words === 'string' ? text.includes(words) : words.test(text)) return;
    if (performance.now() > endsAt) throw new Error(`Nobody reads ${words} in: ${text}`);
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))');
  }
}
