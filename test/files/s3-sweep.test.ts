import { expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { formatFileName } from '#core/files/file-name.ts';
import type { S3Client } from '#core/files/s3-client.ts';
import { abortLostUploads, S3_UPLOAD_MS } from '#core/files/s3-sweep.ts';
import { newVideo } from './file-home.ts';

const NOW_MS = Date.UTC(2026, 10, 24);
const BEGUN = new Date(NOW_MS - S3_UPLOAD_MS - DAY_MS).toISOString();

/** A store that lists these uploads on a first page, and notes what it is asked for. */
function storeOf(...uploads: string[]) {
  const aborted: unknown[] = [];
  let pages = 0;
  const client: S3Client = {
    async send(path, { method, query }) {
      if (method === 'DELETE') aborted.push([path, query?.uploadId]);
      else pages += 1;
      const list = pages === 1 ? `${uploads.join('')}<IsTruncated>true</IsTruncated>` : '';
      const body = Buffer.from(`<ListMultipartUploadsResult>${list}</ListMultipartUploadsResult>`);
      return { found: true, header: () => '', body };
    },
  };
  const sweep = () => abortLostUploads(client, 'videos', NOW_MS, new AbortController().signal);
  return { sweep, aborted, pages: () => pages };
}

test('an upload whose entry lacks a member is left alone, and the others are aborted', async () => {
  const [first = '', second = ''] = [1, 2].map(() => formatFileName(newVideo(NOW_MS)));
  const { sweep, aborted, pages } = storeOf(
    '<Upload></Upload>',
    `<Upload><UploadId>u1</UploadId><Initiated>${BEGUN}</Initiated></Upload>`,
    `<Upload><Key>${first}</Key><Initiated>${BEGUN}</Initiated></Upload>`,
    `<Upload><Key>${first}</Key><UploadId>u2</UploadId></Upload>`,
    `<Upload><Key>${second}</Key><UploadId>u3</UploadId><Initiated>${BEGUN}</Initiated></Upload>`,
  );
  await sweep();
  expect(aborted).toEqual([[second, 'u3']]);
  expect(pages()).toBe(2);
});

test('a page whose last upload has no name is the last one that is read', async () => {
  const { sweep, pages } = storeOf('<Upload></Upload>');
  await sweep();
  expect(pages()).toBe(1);
});
