import { systemClock } from '#core/clock.ts';
import { openLocalFileStore } from '#core/files/local-file-store.ts';
import { createS3FileStore } from '#core/files/s3-file-store.ts';
import { MEGABYTE } from '#core/limits.ts';
import { Secret } from '#core/secret.ts';
import { localS3Keys } from '../services/start-s3.ts';
import { newVideo } from './file-home.ts';

/**
 * A process of its own, so that its memory is that of one write: `write-large-file.ts HOME PLACE MEGABYTES`. Prints what
 * it wrote, and the most memory that it had.
 */
const [home, place = '', megabytes = ''] = process.argv.slice(2);

const store =
  home === 'local'
    ? openLocalFileStore({ dataDir: place, publicUrl: () => 'http://127.0.0.1:1/v1', clock: systemClock })
    : createS3FileStore(
        {
          endpoint: place,
          publicEndpoint: place,
          region: 'us-east-1',
          bucket: 'faregate-test',
          accessKeyId: new Secret(localS3Keys.accessKeyId),
          secretAccessKey: new Secret(localS3Keys.secretAccessKey),
        },
        systemClock,
      );

/** One chunk again and again: what a source leaves behind is its own affair. */
const chunk = Buffer.alloc(MEGABYTE / 16, 7);

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < Number(megabytes) * 16; at++) yield chunk;
}

const name = newVideo(Date.UTC(2026, 10, 24));
try {
  const written = await store.write(name, chunks());
  const size = await store.size(name);
  process.stdout.write(JSON.stringify({ ...written, size, rssBytes: process.resourceUsage().maxRSS * 1024 }));
} catch (error) {
  process.stdout.write(JSON.stringify({ failed: error instanceof Error ? error.name : String(error) }));
}
