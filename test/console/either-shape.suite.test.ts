import { expect, it } from 'vitest';
import { hello, MODEL } from '../support/gateway.ts';
import { describeInBrowser, sees } from './in-browser.ts';
import { expectImages, expectPlays, makeImages, orderVideo, untilSeen } from './real-media.ts';

/** What the console is mostly opened for. Runs on both shapes; all that it can do, `console.suite.test.ts` tries on one. */
describeInBrowser('on either shape, the console', ({ gateway, show }) => {
  it('opens with a key, and shows what it can spend', async () => {
    const console = await show({ agent: await gateway().newAgent({ creditUsd: '3.000000007' }) });
    await sees(console, 'Spendable now $3.000000007');
    await console.open('limits');
    await sees(console, 'Active keys 1 of 10');
  });

  it('makes a key that works at once, limits it, and revokes it', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent, page: 'keys' });
    const { page } = console;
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Label').fill('Build machine');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your new key' });
    const made = { ...agent, key: await dialog.getByRole('textbox', { name: 'Key' }).inputValue() };
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await sees(console, '2 of 10 active keys');
    expect((await gateway().post(hello(), { agent: made })).status).toBe(200);

    await page.getByRole('button', { name: 'Change Build machine' }).click();
    await page.getByLabel('A limit').check();
    await page.getByLabel('US dollars').fill('0.01');
    await page.getByRole('button', { name: 'Save' }).click();
    await sees(console, /left of \$0\.01 a month/);

    await page.getByRole('button', { name: 'Revoke Build machine' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await sees(console, '1 of 10 active keys');
    expect((await gateway().post(hello(), { agent: made })).status).toBe(401);
  });

  it('has a video made, and plays it', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent, page: 'videos' });
    await orderVideo(console, 'A harbour at dawn');
    await untilSeen(console, 'Done');
    await expectPlays(console, 'A harbour at dawn');
    expect((await gateway().settled(agent)).chargedNanoUsd).toBe(50_000_000n);
  });

  it('has images made, and shows them', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent, page: 'pictures' });
    await makeImages(console, 'A harbour at dawn');
    await expectImages(console, 2);
    expect((await gateway().settled(agent)).chargedNanoUsd).toBe(20_000_000n);
  });

  it('has a model answer, and finds the call with what it cost in calls and usage', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent, page: 'playground' });
    const { page } = console;
    await page.getByLabel('Model').fill(MODEL);
    await page.getByLabel('Your message').fill('Hello');
    await page.getByLabel('Your message').press('Enter');
    await sees(console, /Charged \$0\.00\s?\d+ Given back .* Spendable now \$4\.99/);
    await console.open('calls');
    await page.getByRole('table', { name: 'Calls' }).getByText('Done').waitFor();
    // In a cluster usage is read from the log's copy, which is a moment behind.
    await gateway().calls(agent);
    await console.open('usage');
    await sees(console, 'Calls 1');
  });
});
