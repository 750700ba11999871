import { expect } from 'vitest';
import { until } from '../support/gateway.ts';
import type { ConsolePage } from './console-page.ts';
import { sees } from './in-browser.ts';

/** Two seconds of the simulator's smallest video: five cents. */
export async function orderVideo({ page }: ConsolePage, prompt: string): Promise<void> {
  await page.getByLabel('Model').fill('faregate-sim/clip');
  await page.getByLabel('Length').selectOption('2 s');
  await page.getByLabel('Resolution').selectOption('480p');
  await page.getByLabel('What to show').fill(prompt);
  await page.getByRole('button', { name: 'Order video' }).click();
}

/** The page looks again whenever somebody comes back to it, and not only each ten seconds. */
export const untilSeen = ({ page }: ConsolePage, words: string): Promise<void> =>
  until(async () => {
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    return (await page.getByText(words, { exact: true }).count()) > 0;
  });

export async function expectPlays({ page }: ConsolePage, prompt: string): Promise<void> {
  await page.getByRole('button', { name: `Play: ${prompt}` }).click();
  await page.locator('video').waitFor();
  const told = (what: string) => page.evaluate(`document.querySelector("video").${what}`);
  await until(async () => Number(await told('currentTime')) > 0.3);
  expect(await told('videoWidth')).toBe(854);
  // Keys of the player work at once.
  expect(await page.evaluate('document.activeElement.tagName')).toBe('VIDEO');
}

/** Two of the simulator's smallest: two cents. */
export async function makeImages(console: ConsolePage, prompt: string): Promise<void> {
  const { page } = console;
  await page.getByLabel('Model').fill('faregate-sim/paint');
  await page.getByLabel('How many').fill('2');
  await page.getByLabel('Resolution').selectOption('512');
  await page.getByLabel('What to show').fill(prompt);
  await page.getByRole('button', { name: 'Make images' }).click();
  await sees(console, 'Charged $0.02');
}

export async function expectImages({ page }: ConsolePage, count: number): Promise<void> {
  const seen =
    'Promise.all([...document.images].map((each) => each.decode().then(() => each.naturalWidth > 0)))';
  expect(await page.evaluate(seen)).toEqual(Array(count).fill(true));
}
