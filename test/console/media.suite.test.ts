import { expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import type { ConsolePage } from './console-page.ts';
import { describeInBrowser, sees } from './in-browser.ts';

/** Real videos and pictures, of the simulator: the rest of what may happen is tried on each page by itself. */
describeInBrowser('a person in the console', ({ gateway, show }) => {
  async function order({ page }: ConsolePage, prompt: string): Promise<void> {
    await page.getByLabel('Model').fill('faregate-sim/clip');
    await page.getByLabel('Length').selectOption('2 s');
    await page.getByLabel('Resolution').selectOption('480p');
    await page.getByLabel('What to show').fill(prompt);
    await page.getByRole('button', { name: 'Order video' }).click();
  }

  /** Asked for at each look at the page, and not only each ten seconds. */
  async function untilSeen({ page }: ConsolePage, words: string): Promise<void> {
    await until(async () => {
      await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
      return (await page.getByText(words, { exact: true }).count()) > 0;
    });
  }

  it('orders a video, and sees it play', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent });
    const { page } = console;
    await console.open('videos');
    await order(console, 'A harbour at dawn');
    await sees(console, 'the most that it can cost $0.05');
    await untilSeen(console, 'Done');
    await sees(console, 'Charged $0.05 Given back $0.00 File is deleted in 29 days');
    expect((await gateway().settled(agent)).chargedNanoUsd).toBe(50_000_000n);

    await page.getByRole('button', { name: 'Play: A harbour at dawn' }).click();
    await page.locator('video').waitFor();
    const played = async () => Number(await page.evaluate('document.querySelector("video").currentTime'));
    await until(async () => (await played()) > 0.3);
    expect(await page.evaluate('document.querySelector("video").videoWidth')).toBe(854);
    // Keys of the player work at once.
    expect(await page.evaluate('document.activeElement.tagName')).toBe('VIDEO');

    await page.reload();
    await sees(console, 'A harbour at dawn');
    await untilSeen(console, 'Done');
  });

  it('reads why a video failed, and that it cost nothing', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent });
    await console.open('videos');
    gateway().provider.next({ path: '/videos', video: { end: 'failed', error: 'No such sea' } });
    await order(console, 'A harbour at dawn');
    await untilSeen(console, 'Failed');
    await sees(console, 'Nothing was charged. generation_failed');
    expect((await gateway().settled(agent)).chargedNanoUsd).toBe(0n);
  });

  it('makes pictures, and sees them', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent });
    const { page } = console;
    await console.open('pictures');
    await page.getByLabel('Model').fill('faregate-sim/paint');
    await page.getByLabel('How many').fill('2');
    await page.getByLabel('Resolution').selectOption('512');
    await page.getByLabel('What to show').fill('A harbour at dawn');
    await page.getByRole('button', { name: 'Make pictures' }).click();
    await sees(console, 'Charged $0.02');
    await sees(console, 'Link ends in 6 days');
    const widths =
      'Promise.all([...document.images].map((each) => each.decode().then(() => each.naturalWidth > 0)))';
    expect(await page.evaluate(widths)).toEqual([true, true]);
    expect((await gateway().settled(agent)).chargedNanoUsd).toBe(20_000_000n);
  });
});
