import { useEffect } from '/console/vendor/preact-hooks.js';
import { useGateway } from '../client/gateway.js';
import { isOpen } from '../client/videos.js';
import { html } from '../lib/html.js';
import { useStore } from '../lib/store.js';
import { SECOND_MS } from '../lib/time.js';
import { useNewestInSight } from '../lib/use-newest-in-sight.js';
import { Empty } from '../parts/notice.js';
import { PageHead } from '../parts/page-head.js';
import { PlayTabs } from '../parts/play-tabs.js';
import { VideoCard } from '../parts/video-card.js';
import { VideoForm } from '../parts/video-form.js';

/** As often as the gateway wants to be asked. */
const WATCH_MS = 10 * SECOND_MS;

export function VideosView() {
  const { videos } = useGateway();
  const { all } = useStore(videos.store);
  const list = useNewestInSight(all.length);
  const open = all.some(isOpen);
  useEffect(() => {
    if (!open) return undefined;
    const look = () => void (document.visibilityState === 'visible' && videos.refresh());
    look();
    const timer = setInterval(look, WATCH_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [open, videos]);

  return html`
    <${PageHead} title="Videos" about="Order a video, and watch it when it is made." />
    <${PlayTabs} current="videos" />
    <${VideoForm} />
    ${
      all.length === 0 &&
      html`<${Empty} title="No videos in this tab yet">
        <p>
          The most that a video can cost is held when it is ordered. It is charged once it is made, and costs nothing if it
          fails. This tab remembers the videos that you order in it.
        </p>
      <//>`
    }
    <section aria-label="Your videos" ref=${list}>
      ${all.map((video) => html`<${VideoCard} key=${video.id} video=${video} onForget=${videos.forget} />`)}
    </section>
  `;
}
