import { expect, test } from 'vitest';
import type { FileName } from '#core/files/file-name.ts';
import type { WrittenFile } from '#core/files/file-store.ts';
import { VIDEO_ORDERS_WRITTEN_AT_ONCE, writeVideoOrder } from '../../api/media/write-video-order.ts';

const nameOf = (kind: FileName['kind'], id: string): FileName => ({
  kind,
  endHour: '20990101T00',
  agentId: 1,
  id,
  contentType: kind === 'orders' ? 'application/json' : 'image/png',
});

test('a flood of orders has the images of a few in memory, and orders without any wait for none', async () => {
  let writing = 0;
  let most = 0;
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const files = {
    read: async () => Buffer.alloc(100),
    async write(_name: FileName, chunks: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
      most = Math.max(most, ++writing);
      for await (const _ of chunks) await mayEnd;
      writing--;
      return { bytes: 0, sha256: '' };
    },
  };
  const image = nameOf('uploads', 'upl_1');
  const order = (sentAlong: ReadonlyMap<string, FileName>) =>
    writeVideoOrder(files, nameOf('orders', 'vid_1'), {
      model: { upstreamModel: 'film' },
      previousJobId: null,
      sentAlong,
      request: {
        model: 'acme/film',
        duration: 5,
        resolution: '720p',
        aspect_ratio: '16:9',
        frame_images: [{ type: 'image_url', image_url: { url: 'mine' }, frame_type: 'first_frame' }],
      },
    });
  const all = Array.from({ length: 20 }, () => order(new Map([['mine', image]])));
  await Promise.resolve();
  expect(most).toBe(VIDEO_ORDERS_WRITTEN_AT_ONCE);
  const plain = order(new Map());
  expect(most).toBe(VIDEO_ORDERS_WRITTEN_AT_ONCE + 1);
  end();
  await Promise.all([...all, plain]);
  expect(most).toBe(VIDEO_ORDERS_WRITTEN_AT_ONCE + 1);
});
