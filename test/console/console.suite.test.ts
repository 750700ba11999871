import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { hello, MODEL, type TestAgent, until } from '../support/gateway.ts';
import type { ConsolePage } from './console-page.ts';
import { grantUntil } from './grant-until.ts';
import { describeInBrowser, sees } from './in-browser.ts';

/** Three callers with such a pause ask thirty times as often as a key may. */
const SPEND_PAUSE_MS = 100;

describeInBrowser('the console', ({ gateway: running, show }) => {
  async function callTimes(agent: TestAgent, times: number, extra: object = {}): Promise<void> {
    for (let i = 0; i < times; i++) await (await running().post(hello(extra), { agent })).text();
    await running().settled(agent);
  }

  describe('asks for a key', () => {
    it('and opens with one, keeps it over a reload, and forgets it at a click', async () => {
      const agent = await running().newAgent();
      const console = await show({ agent: null });
      const { page } = console;
      expect(await page.locator('#key').getAttribute('type')).toBe('password');
      await page.getByLabel('API key').fill(`  ${agent.key}\n`);
      await page.getByLabel('API key').press('Enter');
      await sees(console, 'Spendable now');
      await page.reload();
      await sees(console, 'Spendable now');
      await page.getByRole('button', { name: 'Forget key' }).click();
      await sees(console, 'Open the console');
      await page.reload();
      await sees(console, 'Open the console');
      expect(
        await page.evaluate('sessionStorage.length + localStorage.length + document.cookie.length'),
      ).toBe(0);
    });

    it('and keeps it in this tab alone', async () => {
      const console = await show();
      const other = await console.context.newPage();
      await other.goto(console.url);
      await other.getByText('Open the console').waitFor();
      expect(await other.evaluate('localStorage.length + document.cookie.length')).toBe(0);
    });

    it.each([
      ['', 'Paste a key first.'],
      ['two words', 'This is no key'],
      ['ключ', 'This is no key'],
      [`fg_${'x'.repeat(38)}`, 'it is truncated, mistyped, or issued by another service'],
    ])('and says of %j why it is none', async (typed, sentence) => {
      const console = await show({ agent: null });
      await console.page.getByLabel('API key').fill(typed);
      await console.page.getByRole('button', { name: 'Open' }).click();
      await console.page.getByRole('alert').filter({ hasText: sentence }).waitFor();
      expect(await console.page.evaluate('document.activeElement.id')).toBe('key');
    });

    it('again, with the reason, once the key is revoked', async () => {
      const agent = await running().newAgent();
      const console = await show({ agent });
      await sees(console, 'Spendable now');
      await revoke(agent);
      await console.page.getByRole('button', { name: 'Refresh' }).click();
      await sees(console, 'Open the console');
      await console.page.getByRole('alert').filter({ hasText: 'This API key was revoked' }).waitFor();
    });

    it('also when an MCP tool is the first to say so', async () => {
      const agent = await running().newAgent();
      const console = await show({ agent });
      await sees(console, 'Spendable now');
      await revoke(agent);
      await console.page.getByRole('link', { name: 'Limits' }).click();
      await sees(console, 'Open the console');
    });
  });

  it('stays open with the next key when a late answer says that the last one was revoked', async () => {
    const [first, second] = [await running().newAgent(), await running().newAgent()];
    const console = await show({ agent: first });
    const { page } = console;
    await sees(console, 'Spendable now');
    await revoke(first);
    const late = Promise.withResolvers<void>();
    await page.route('**/v1/balance', async (route) => {
      if ((await route.request().headerValue('authorization'))?.includes(first.key)) await late.promise;
      await route.continue();
    });
    const asked = page.waitForRequest('**/v1/balance');
    const answered = page.waitForResponse((res) => res.status() === 401);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await asked;
    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByLabel('API key').fill(second.key);
    await page.getByLabel('API key').press('Enter');
    await sees(console, 'Spendable now');
    late.resolve();
    await (await answered).finished();
    await page.getByRole('link', { name: 'Limits' }).click();
    await sees(console, 'Active keys 1 of 10');
    await page.unrouteAll();
  });

  async function revoke({ agentId, keyId }: TestAgent): Promise<void> {
    const { ledger } = running().running.deps.store;
    const { durable } = await ledger.execute({
      type: 'revoke_key',
      readVersion: null,
      agentId,
      keyId,
      actingKeyId: null,
    });
    await durable;
  }

  describe('shows the balance', () => {
    it('to the nano-dollar, with what ends when', async () => {
      const agent = await running().newAgent({ creditUsd: '3.000000007' });
      const soonMs = startOfDayMs(systemClock.now()) + 2 * DAY_MS;
      await grantUntil(running(), agent.agentId, soonMs, '1.5');
      const console = await show({ agent });
      await sees(console, 'Spendable now $4.500000007');
      const rows = console.page.getByRole('table').getByRole('row');
      await rows.nth(2).waitFor();
      const [, first = '', second = ''] = await rows.allInnerTexts();
      expect(first).toMatch(/in \d\d hours/);
      expect(first.replaceAll(/\s+/g, ' ')).toMatch(/\$1\.50 \$3\.00\s?0000007$/);
      expect(second.replaceAll(/\s+/g, ' ')).toMatch(/\$3\.00\s?0000007 \$0\.00$/);
    });

    it('and what to do where there is none', async () => {
      const console = await show({ agent: await running().newAgent({ creditUsd: '0' }) });
      await sees(console, 'No credit');
      await sees(console, 'Credit comes from');
    });

    it.each([
      ['suspended', 'This agent is suspended'],
      ['inactive', 'This agent is not active yet'],
    ] as const)('and that the agent is %s', async (status, sentence) => {
      await sees(await show({ agent: await running().newAgent({ status }) }), sentence);
    });

    it("with the key's own limit", async () => {
      const { agentId } = await running().newAgent();
      const limited = await running().newKey(agentId, '2.5');
      await callTimes(limited, 1);
      const console = await show({ agent: limited });
      await sees(console, /left of \$2\.50 a day/);
      await sees(console, /\$0\.00\d+ spent/);
    });

    it('with what running calls hold, and gives it back in sight', async () => {
      const agent = await running().newAgent();
      running().provider.next({ gate: 'held' });
      const call = running().post(hello(), { agent });
      await running().provider.reached('held');
      const console = await show({ agent });
      await sees(console, 'Running 1 call');
      running().provider.release('held');
      await (await call).text();
      await running().settled(agent);
      await console.page.getByRole('button', { name: 'Refresh' }).click();
      await sees(console, 'Running No calls');
    });
  });

  it('shows the limits, and how near they are', async () => {
    const agent = await running().newAgent();
    const console = await show({ agent, page: 'limits' });
    await sees(console, 'Running calls 0 of 8');
    await sees(console, 'Active keys 1 of 10');
    await sees(console, 'Call starts a minute 600');
    await sees(console, 'Uploads in 24 hours 200');
    await sees(console, 'It has no spending limit');
  });

  it('waits where it is asked to, says so, and goes on by itself', async () => {
    const agent = await running().newAgent();
    const console = await show({ agent });
    await sees(console, 'Spendable now');
    const { origin } = new URL(running().baseUrl);
    const spend = () =>
      fetch(`${origin}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${agent.key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
    // A busy browser takes seconds to open a page, and one request more is allowed in each of them.
    let refusals = 0;
    let isOpening = true;
    async function spendAll(): Promise<void> {
      while (isOpening) {
        const response = await spend();
        await response.text();
        if (response.status === 429) refusals++;
        // The browser shares the machine with this load.
        await sleep(SPEND_PAUSE_MS);
      }
    }
    const spending = Promise.all([spendAll(), spendAll(), spendAll()]);
    // A failure is told below, where it is waited for.
    spending.catch(() => undefined);
    try {
      await until(() => refusals > 0);
      await console.open('limits');
      await sees(console, 'Trying again in');
    } finally {
      isOpening = false;
      await spending;
    }
    await sees(console, 'Running calls 0 of 8');
    await console.page.getByText('Trying again in').waitFor({ state: 'detached' });
  });

  describe('shows usage', () => {
    it('by day and by model, as a chart and as a table, for the days asked for', async () => {
      const agent = await running().newAgent();
      await callTimes(agent, 2);
      await callTimes(agent, 1, { model: 'faregate-sim/large' });
      const console = await show({ agent, page: 'usage' });
      const { page } = console;
      await sees(console, 'Calls 3');
      await page.locator('.day-chart canvas').waitFor();
      await page.getByText('Show as a table').click();
      const byDay = page.getByRole('region', { name: 'Usage by day' }).getByRole('row');
      expect(await byDay.count()).toBe(2);
      expect(await byDay.nth(1).innerText()).toMatch(/\t3\t/);
      const models = await page
        .getByRole('table', { name: 'Usage by model' })
        .getByRole('row')
        .allInnerTexts();
      expect(models.slice(1).map((row) => row.match(/faregate-sim\/\w+/)?.[0])).toEqual([
        'faregate-sim/large',
        MODEL,
      ]);
      const asked = page.waitForRequest((request) => request.postData()?.includes('"days":45') === true);
      await page.getByLabel('Days', { exact: true }).fill('45');
      await page.getByLabel('Days', { exact: true }).press('Enter');
      await asked;
      await page.getByRole('radio', { name: '90 days' }).check();
      await sees(console, 'Calls 3');
    });

    it('and where to begin when there is none', async () => {
      const console = await show({ agent: await running().newAgent(), page: 'usage' });
      await sees(console, 'No calls in this period');
      await console.page.getByRole('main').getByRole('link', { name: 'playground' }).click();
      await console.page.getByRole('heading', { name: 'Playground' }).waitFor();
    });
  });

  describe('shows calls', () => {
    it('with their outcome and cost, and everything about one', async () => {
      const agent = await running().newAgent();
      await callTimes(agent, 1);
      running().provider.next({ status: 503, body: '{"error":{"message":"no"}}' });
      await callTimes(agent, 1);
      const console = await show({ agent, page: 'calls' });
      const { page } = console;
      const rows = page.getByRole('table', { name: 'Calls' }).getByRole('row');
      await rows.nth(2).waitFor();
      expect(await rows.nth(1).innerText()).toContain('Failed');
      expect(await rows.nth(2).innerText()).toContain('Done');
      await rows.nth(2).getByRole('button').click();
      const dialog = page.getByRole('dialog', { name: 'Call' });
      const [call] = (await running().calls(agent)).filter(({ outcome }) => outcome === 'ok');
      const text = (await dialog.innerText()).replaceAll(/\s+/g, ' ');
      expect(text).toContain(MODEL);
      expect(text).toContain('Format chat/completions');
      expect(await dialog.getByLabel(/Call id/).inputValue()).toBe(String(call?.callId));
      await dialog.getByRole('button', { name: 'Copy' }).click();
      await dialog.getByText('Copied.').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(String(call?.callId));
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      // A browser gives the focus back in a task of its own.
      await page.waitForFunction("document.activeElement.className.includes('row-link')");
    });

    it('chosen by key, outcome and part of a model', async () => {
      const agent = await running().newAgent();
      const other = await running().newKey(agent.agentId);
      await callTimes(agent, 2);
      await callTimes(other, 1, { model: 'faregate-sim/large' });
      running().provider.next({ status: 503, body: '{"error":{"message":"no"}}' });
      await callTimes(agent, 1);
      const console = await show({ agent, page: 'calls' });
      const { page } = console;
      const rows = page.getByRole('table', { name: 'Calls' }).locator('tbody tr');
      await rows.nth(3).waitFor();
      await page.getByLabel('Outcome').selectOption('failed');
      await sees(console, '1 of the 4 calls that are loaded');
      expect(await rows.count()).toBe(1);
      await page.getByLabel('Outcome').selectOption('');
      await page.getByLabel('Model').fill('LARGE');
      await sees(console, '1 of the 4 calls that are loaded');
      await page.getByLabel('Model').fill('nothing like it');
      await sees(console, 'No call matches');
      await page.getByLabel('Model').fill('');
      await page.getByLabel('Key').selectOption(String(other.keyId));
      await until(async () => (await rows.count()) === 1);
      expect(await rows.first().innerText()).toContain('Large');
    });

    it('page by page back to the first', async () => {
      const agent = await running().newAgent();
      await callTimes(agent, 30);
      const console = await show({ agent, page: 'calls' });
      const rows = console.page.getByRole('table', { name: 'Calls' }).locator('tbody tr');
      await sees(console, '25 calls');
      await console.page.getByRole('button', { name: 'Load older calls' }).click();
      await sees(console, '30 calls');
      expect(await rows.count()).toBe(30);
      expect(await console.page.getByRole('button', { name: 'Load older calls' }).count()).toBe(0);
    });

    it('that run, and how they end, without being asked again', async () => {
      const agent = await running().newAgent();
      running().provider.next({ gate: 'runs' });
      const call = running().post(hello(), { agent });
      await running().provider.reached('runs');
      const console = await show({ agent, page: 'calls' });
      await sees(console, 'Running');
      running().provider.release('runs');
      await (await call).text();
      await running().settled(agent);
      await console.page.getByRole('table').getByText('Done').waitFor();
    });
  });

  describe('manages keys', () => {
    it('makes one whose secret shows once, and works', async () => {
      const agent = await running().newAgent();
      const console = await show({ agent });
      const { page } = console;
      await console.open('keys');
      await sees(console, '1 of 10 active keys');
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Label').fill('Build machine');
      await page.getByLabel('A limit').check();
      await page.getByLabel('US dollars').fill('12.50');
      await page.getByLabel('Period', { exact: true }).selectOption('weekly');
      await page.getByRole('button', { name: 'Create key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your new key' });
      const secret = await dialog.getByRole('textbox', { name: 'Key' }).inputValue();
      expect(secret).toMatch(/^fg_\w{38}$/);
      // Only its button closes it.
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.evaluate('history.back()');
      await page.locator('nav a[href="#/balance"][aria-current="page"]').waitFor();
      expect(await dialog.getByRole('textbox', { name: 'Key' }).inputValue()).toBe(secret);
      const leaves = 'dispatchEvent(new Event("beforeunload", { cancelable: true }))';
      expect(await page.evaluate(leaves)).toBe(false);
      await dialog.getByRole('button', { name: 'Copy' }).click();
      await dialog.getByText('Copied.').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
      await dialog.getByRole('button', { name: 'I have stored it' }).click();
      expect(await page.evaluate(leaves)).toBe(true);
      await console.open('keys');
      await sees(console, '2 of 10 active keys');
      expect(await page.content()).not.toContain(secret);
      await sees(console, /\$12\.50 left of \$12\.50 a week/);
      const res = await running().post(hello(), { agent: { ...agent, key: secret } });
      expect(res.status).toBe(200);
    });

    it('changes a label, and sets, changes and removes a limit', async () => {
      const agent = await running().newAgent();
      const other = await running().newKey(agent.agentId);
      const console = await show({ agent, page: 'keys' });
      const { page } = console;
      const limitOf = async () =>
        (await running().view(agent)).keys.find(({ keyId }) => keyId === other.keyId)?.limit?.limitNanoUsd ??
        null;
      await page
        .getByRole('listitem')
        .filter({ hasNotText: 'This key' })
        .getByRole('button', { name: 'Change' })
        .click();
      await page.getByLabel('Label').fill('Renamed');
      await page.getByRole('button', { name: 'Save' }).click();
      await sees(console, 'The key “Renamed” was changed.');
      const change = page.getByRole('button', { name: 'Change Renamed' });
      await change.click();
      await page.getByLabel('A limit').check();
      await page.getByLabel('US dollars').fill('3');
      await page.getByRole('button', { name: 'Save' }).click();
      await sees(console, /\$3\.00 left of \$3\.00 a month/);
      expect(await limitOf()).toBe(3_000_000_000n);
      await change.click();
      await page.getByLabel('US dollars').fill('0.001');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('alert').filter({ hasText: 'spending_limit.usd:' }).waitFor();
      await page.getByLabel('US dollars').fill('4');
      await page.getByRole('button', { name: 'Save' }).click();
      await sees(console, /left of \$4\.00 a month/);
      await change.click();
      await page.getByLabel('No limit').check();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await limitOf()).toBe(null);
    });

    it('takes a label of sixty letters, whatever they are, and passes on that one more is too many', async () => {
      const console = await show({ agent: await running().newAgent(), page: 'keys' });
      const { page } = console;
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Label').fill('😀'.repeat(61));
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('alert').filter({ hasText: 'label:' }).waitFor();
      await page.getByLabel('Label').fill('😀'.repeat(60));
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await sees(console, '😀'.repeat(60));
    });

    it('revokes one, but not before it is confirmed', async () => {
      const agent = await running().newAgent();
      const other = await running().newKey(agent.agentId);
      const console = await show({ agent, page: 'keys' });
      const { page } = console;
      const card = page.getByRole('listitem').filter({ hasNotText: 'This key' });
      await card.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('button', { name: 'Keep it' }).click();
      expect((await running().post(hello(), { agent: other })).status).toBe(200);
      await card.getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await sees(console, 'is revoked.');
      await sees(console, '1 of 10 active keys');
      expect((await running().post(hello(), { agent: other })).status).toBe(401);
    });

    it('closes when its own key is revoked', async () => {
      const agent = await running().newAgent();
      const console = await show({ agent, page: 'keys' });
      const { page } = console;
      await page.getByRole('button', { name: 'Revoke' }).click();
      await sees(console, 'revoking it closes the console');
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await sees(console, 'You revoked the key that this console was open with.');
      await page.getByLabel('API key').waitFor();
    });

    it('only reads with a limited key, and says why', async () => {
      const { agentId } = await running().newAgent();
      const console = await show({ agent: await running().newKey(agentId, '1'), page: 'keys' });
      await sees(console, 'This key has a spending limit, so it can read but not');
      expect(await console.page.getByRole('button', { name: /New key|Change|Revoke/ }).count()).toBe(0);
    });

    it('passes on what the gateway refuses, in its words', async () => {
      const agent = await running().newAgent();
      for (let i = 0; i < 9; i++) await running().newKey(agent.agentId);
      const console = await show({ agent, page: 'keys' });
      await sees(console, '10 of 10 active keys');
      await console.page.getByRole('button', { name: 'New key' }).click();
      await console.page.getByLabel('Label').fill('One more');
      await console.page.getByRole('button', { name: 'Create key' }).click();
      await console.page
        .getByRole('alert')
        .filter({ hasText: 'This agent already has 10 active keys' })
        .waitFor();
    });
  });

  describe('tries models', () => {
    const ask = async ({ page }: ConsolePage, words: string) => {
      await page.getByLabel('Your message').fill(words);
      await page.getByLabel('Your message').press('Enter');
    };

    it('writes the answer as it comes, and shows what was held, charged and left', async () => {
      const agent = await running().newAgent();
      running().provider.next({ chunks: 3, text: 'One word. ', gate: 'half', gateAt: 600 });
      const console = await show({ agent, page: 'playground' });
      const { page } = console;
      await page.getByLabel('Model').fill(MODEL);
      await ask(console, 'Say three words.');
      await running().provider.reached('half');
      await sees(console, 'One word.');
      await sees(console, 'Charged when it ends');
      const [hold] = (await running().view(agent)).holds;
      const receipt = page.getByRole('group', { name: 'Receipt' });
      expect(await receipt.innerText()).toContain('$0.00');
      running().provider.release('half');
      await sees(console, 'Spendable now');
      const view = await running().settled(agent);
      const text = (await receipt.innerText()).replaceAll(/\s+/g, ' ');
      const [held, charged, back, left] = [...text.matchAll(/\$([\d.]+)/g)].map(([, usd = '']) => nano(usd));
      expect(held).toBe(hold?.nanoUsd);
      expect(charged).toBe(view.chargedNanoUsd);
      expect(back).toBe((held ?? 0n) - (charged ?? 0n));
      expect(left).toBe(5_000_000_000n - view.chargedNanoUsd);
      expect(JSON.stringify(running().provider.lastBody())).toContain('"max_tokens":512');
    });

    it('goes on with the conversation, also after a look at another page', async () => {
      const console = await show({ agent: await running().newAgent(), page: 'playground' });
      await ask(console, 'First question');
      await sees(console, 'Spendable now');
      await console.open('balance');
      await console.open('playground');
      await sees(console, 'First question');
      await ask(console, 'Second question');
      await until(async () => (await console.page.getByText('Spendable now').count()) === 2);
      const { messages } = running().provider.lastBody() as { messages: { role: string; content: string }[] };
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
      await console.page.getByRole('button', { name: 'New conversation' }).click();
      await sees(console, 'Ask something');
    });

    it('stops an answer, and shows what it cost until then', async () => {
      const agent = await running().newAgent();
      running().provider.next({ chunks: 50, text: 'Word after word. ', gate: 'long', gateAt: 900 });
      const console = await show({ agent, page: 'playground' });
      await ask(console, 'Tell me much.');
      await running().provider.reached('long');
      await sees(console, 'Word after word.');
      await console.page.getByRole('button', { name: 'Stop' }).click();
      await sees(console, 'You stopped it here.');
      await until(() => running().running.deps.gateway.openCalls.usageDrains === 1);
      running().provider.release('long');
      await sees(console, 'Spendable now');
      const [call] = await running().calls(agent);
      expect(call?.outcome).toBe('stopped');
      const charged = (await running().settled(agent)).chargedNanoUsd;
      expect(charged).toBeGreaterThan(0n);
      const receipt = await console.page.getByRole('group', { name: 'Receipt' }).innerText();
      expect(
        [...receipt.replaceAll(/\s+/g, ' ').matchAll(/\$([\d.]+)/g)].map(([, usd = '']) => nano(usd))[1],
      ).toBe(charged);
    });

    it('shows a refusal with its code, and that nothing was held', async () => {
      const console = await show({
        agent: await running().newAgent({ creditUsd: '0.000001' }),
        page: 'playground',
      });
      await ask(console, 'Hello');
      const alert = console.page.getByRole('alert');
      await alert.filter({ hasText: 'insufficient_balance' }).waitFor();
      expect(await alert.innerText()).toMatch(/spendable/i);
      await sees(console, 'nothing was held or charged');
      // And nobody types it again.
      await until(async () => (await console.page.getByLabel('Your message').inputValue()) === 'Hello');
      await alert.getByRole('link', { name: 'See when credit ends' }).click();
      await console.page.getByRole('heading', { name: 'Balance' }).waitFor();
    });

    it('sends nothing by Enter that its button would not send', async () => {
      const console = await show({ agent: await running().newAgent(), page: 'playground' });
      const { page } = console;
      await sees(console, 'Ask something');
      await page.getByLabel('Longest answer').fill('0');
      await ask(console, 'Hello');
      expect(await page.evaluate('document.activeElement.id')).toBe('tokens');
      expect(await page.getByLabel('Your message').inputValue()).toBe('Hello');
      expect(await page.getByRole('article').count()).toBe(0);
    });

    it('says of a model that nobody serves that it is none', async () => {
      const console = await show({ agent: await running().newAgent(), page: 'playground' });
      await console.page.getByLabel('Model').fill('acme/none');
      await sees(console, 'No listed model has this id.');
      await ask(console, 'Hello');
      await console.page.getByRole('alert').filter({ hasText: 'unknown_model' }).waitFor();
    });

    it('keeps what was written before an error, and shows what that cost', async () => {
      const agent = await running().newAgent();
      running().provider.next({ chunks: 4, text: 'Some words. ', error: { at: 'stream', afterChunks: 2 } });
      const console = await show({ agent, page: 'playground' });
      await ask(console, 'Hello');
      await sees(console, 'Some words.');
      await console.page.getByRole('alert').waitFor();
      await sees(console, 'Spendable now');
      const { chargedNanoUsd } = await running().settled(agent);
      const receipt = await console.page.getByRole('group', { name: 'Receipt' }).innerText();
      expect(
        [...receipt.replaceAll(/\s+/g, ' ').matchAll(/\$([\d.]+)/g)].map(([, usd = '']) => nano(usd))[1],
      ).toBe(chargedNanoUsd);
    });

    it('goes back to the form when the key is revoked meanwhile', async () => {
      const agent = await running().newAgent();
      const console = await show({ agent, page: 'playground' });
      await sees(console, 'Ask something');
      await revoke(agent);
      await ask(console, 'Hello');
      await sees(console, 'Open the console');
    });
  });
});

/** Exact, as it stands on the page. */
function nano(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole + fraction.padEnd(9, '0'));
}
