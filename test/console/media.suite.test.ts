import { expect, it } from 'vitest';
import { hourOf } from '#core/files/file-name.ts';
import { makeMp4 } from '../../api/simulator/media/make-mp4.ts';
import { until } from '../support/gateway.ts';
import { fakeMedia, videoModel } from './fake-media.ts';
import { describeInBrowser } from './in-browser.ts';

describeInBrowser('media', ({ gateway, show }) => {
  it('plays', async () => {
    const console = await show({ agent: await gateway().newAgent() });
    const { page } = console;
    const fake = await fakeMedia(console.context, { videos: [videoModel()] });
    fake.job = { status: 'completed', usage: { cost: 0.1 }, expires_at: '2099-01-01T00:00:00Z' };
    const { files } = gateway().running.deps;
    const untilMs = Date.now() + 3_600_000;
    const name = {
      kind: 'videos',
      endHour: hourOf(untilMs),
      agentId: 1,
      id: `vid_${'a'.repeat(20)}`,
      contentType: 'video/mp4',
    } as const;
    async function* one() {
      yield makeMp4({ seconds: 4, seed: 'x', widthPx: 320, heightPx: 176 });
    }
    await files?.write(name, one());
    const link = (await files?.getLink(name, untilMs)) ?? '';
    await console.context.route('**/content', (route) =>
      route.fulfill({ status: 302, headers: { location: link } }),
    );
    await console.open('videos');
    await page.getByLabel('What to show').fill('x');
    await page.getByRole('button', { name: 'Order video' }).click();
    await page.getByRole('button', { name: 'Play: x' }).click();
    await page.locator('video').waitFor();
    await until(async () => Number(await page.evaluate('document.querySelector("video").currentTime')) > 0.5);
    expect(await page.evaluate('document.querySelector("video").videoWidth')).toBe(320);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('VIDEO');
  });
});
