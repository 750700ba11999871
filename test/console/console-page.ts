import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { TestAgent, TestGateway } from '../support/gateway.ts';

export const phone = { width: 360, height: 740 };
export const desktop = { width: 1280, height: 900 };

/** Both sizes and both colours: colours do not move anything, and sizes do not change them. */
export const shapes = [
  { size: 'phone', viewport: phone, colorScheme: 'dark' },
  { size: 'desktop', viewport: desktop, colorScheme: 'light' },
] as const;

export interface ConsoleOptions {
  /** Whose key opens it; `null`: nobody's, the form for it shows. */
  agent?: TestAgent | null;
  page?: PageId;
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
}

export const pageIds = [
  ...(['balance', 'usage', 'calls', 'keys', 'limits', 'market'] as const),
  ...(['playground', 'pictures', 'videos'] as const),
] as const;
export type PageId = (typeof pageIds)[number];

/** A console in a browser of its own, and everything that went wrong in it unseen. */
export interface ConsolePage extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Errors of scripts, breaches of the policy, requests to anywhere but the gateway and its files. */
  faults: string[];
  url: string;
  open(id: PageId): Promise<void>;
}

export async function openConsole(
  browser: Browser,
  gateway: TestGateway,
  {
    agent = gateway.agent,
    page: first = 'balance',
    viewport = desktop,
    colorScheme = 'light',
  }: ConsoleOptions = {},
): Promise<ConsolePage> {
  const { origin } = new URL(gateway.baseUrl);
  const url = `${origin}/console`;
  const context = await browser.newContext({
    viewport,
    colorScheme,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(60_000);
  const faults: string[] = [];
  const { files } = gateway.running.deps;
  const origins = [origin, ...(files?.kind === 's3' ? [files.linkOrigin] : [])];
  context.on('page', (each) => watch(each, origins, faults));
  const page = await context.newPage();
  await page.goto(`${url}#/${first}`);
  if (agent !== null) {
    await page.getByLabel('API key').fill(agent.key);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  }
  return {
    page,
    context,
    faults,
    url,
    async open(id) {
      const link = (name: string, of: PageId) =>
        page.getByRole('navigation', { name }).locator(`a[href="#/${of}"]`);
      const tab = id === 'pictures' || id === 'videos';
      if (tab) await link('Pages', 'playground').click();
      const target = link(tab ? 'What to try' : 'Pages', id);
      await target.click();
      await target.and(page.locator('[aria-current="page"]')).waitFor();
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** A refusal by the gateway is no fault of the page, though Chromium notes it as an error. */
function watch(page: Page, origins: readonly string[], faults: string[]): void {
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      faults.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    if (!origins.includes(new URL(request.url()).origin)) faults.push(`request: ${request.url()}`);
  });
}
