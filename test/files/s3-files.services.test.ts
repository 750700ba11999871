import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { formatFileName } from '#core/files/file-name.ts';
import { S3_UPLOAD_MS } from '#core/files/s3-sweep.ts';
import { S3_PART_BYTES } from '#core/files/s3-upload.ts';
import { localS3Keys } from '../services/start-s3.ts';
import { describeWith } from '../support/with-services.ts';
import { testFileHome } from './file-contract.ts';
import { bodyOf, newVideo } from './file-home.ts';
import { type S3Home, startS3Home } from './s3-home.ts';
import { testWrittenFiles } from './written-files-contract.ts';

describeWith(['s3'], 'files in an S3 store', () => {
  testFileHome('links of S3', startS3Home);
  testWrittenFiles('files in S3', startS3Home);
});

describeWith(['s3'], 'uploads of many parts that nobody ended', () => {
  let home: S3Home;

  beforeAll(async () => {
    home = await startS3Home();
  });

  afterAll(() => home[Symbol.asyncDispose]());

  const at = (path: string) => `${home.settings.endpoint}/${home.settings.bucket}/${path}`;
  const sweep = (aheadMs: number) =>
    home.store.deleteEnded(home.nowMs() + aheadMs, new AbortController().signal);

  test('are ended a day after they began, by any number of processes, and no other is', async () => {
    const client = new AwsClient({ ...localS3Keys, service: 's3', region: 'us-east-1', retries: 0 });
    const video = newVideo(home.nowMs());
    const mine = [formatFileName(video), formatFileName(newVideo(home.nowMs()))];
    const foreign = 'videos/somebody-elses.mp4';
    for (const path of [...mine, foreign]) {
      const begun = await client.fetch(at(`${path}?uploads`), { method: 'POST' });
      const id = /<UploadId>([^<]+)/.exec(await begun.text())?.[1];
      const part = at(`${path}?partNumber=1&uploadId=${id}`);
      expect((await client.fetch(part, { method: 'PUT', body: bodyOf(S3_PART_BYTES) })).status).toBe(200);
    }
    await home.store.write(video, chunksOf(bodyOf(10)));
    await sweep(S3_UPLOAD_MS - HOUR_MS);
    expect((await home.leftovers()).sort()).toEqual([...mine, foreign].sort());
    await Promise.all([1, 2, 3].map(() => sweep(S3_UPLOAD_MS + HOUR_MS)));
    expect(await home.leftovers()).toEqual([foreign]);
    expect(await home.store.size(video)).toBe(10);
  });
});

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
