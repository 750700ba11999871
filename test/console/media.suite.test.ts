import { expect, it } from 'vitest';
import { describeInBrowser, sees } from './in-browser.ts';
import { expectPlays, orderVideo, untilSeen } from './real-media.ts';

/** Real videos, of the simulator; what else a gateway may answer is tried on each page by itself. */
describeInBrowser('who orders a video in the console', ({ gateway, show }) => {
  it('sees what is held, what it cost, when its file ends, and still knows it after a reload', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent, page: 'videos' });
    await orderVideo(console, 'A harbour at dawn');
    await sees(console, 'the most that it can cost $0.05');
    await untilSeen(console, 'Done');
    await sees(console, 'Charged $0.05 Given back $0.00 File is deleted in 29 days');
    await gateway().calls(agent);
    await console.open('calls');
    await sees(console, /Sim Clip .* Done .* \$0\.05 \$0\.05/);
    await console.open('usage');
    await sees(console, 'Sim Clip');
    await console.open('videos');
    await console.page.reload();
    await sees(console, 'A harbour at dawn');
    await untilSeen(console, 'Done');
    await expectPlays(console, 'A harbour at dawn');
  });

  it('reads why a video failed, and that it cost nothing', async () => {
    const agent = await gateway().newAgent();
    const console = await show({ agent, page: 'videos' });
    gateway().provider.next({ path: '/videos', video: { end: 'failed', error: 'No such sea' } });
    await orderVideo(console, 'A harbour at dawn');
    await untilSeen(console, 'Failed');
    await sees(console, 'Nothing was charged. generation_failed');
    expect((await gateway().settled(agent)).chargedNanoUsd).toBe(0n);
  });
});
