import { createHash } from 'node:crypto';
import { MINUTE_MS } from '../clock.ts';
import { limitTasks } from '../limit-tasks.ts';
import { MEGABYTE } from '../limits.ts';
import type { WrittenFile } from './file-store.ts';
import type { S3Client } from './s3-client.ts';
import { isUploadComplete, readUploadId } from './s3-xml.ts';

/** The smallest part that S3 accepts, except for the last. It accepts 10,000 parts. */
export const S3_PART_BYTES = 5 * MEGABYTE;
/** Parts that are in memory at one time: 30 MB. */
const S3_PARTS_AT_ONCE = 6;
/** Time to complete an upload. Some stores copy all parts before they answer. */
const S3_COMPLETE_MS = 5 * MINUTE_MS;

interface Target {
  path: string;
  contentType: string;
}

/** Of all uploads of this process together: each fills one part, sends it, and fills it again. */
const inTurn = limitTasks(S3_PARTS_AT_ONCE);
/** A new part of 5 MB for each upload would be freed too late. */
const spareParts: Buffer[] = [];

/** Sends what is shorter than a part in one go, all else part by part; nothing of it is to be seen before its end. */
export function uploadToS3(
  client: S3Client,
  target: Target,
  chunks: AsyncIterable<Uint8Array>,
): Promise<WrittenFile> {
  return inTurn(async () => {
    const part = spareParts.pop() ?? Buffer.allocUnsafeSlow(S3_PART_BYTES);
    try {
      return await upload(client, target, chunks, part);
    } finally {
      spareParts.push(part);
    }
  });
}

async function upload(
  client: S3Client,
  { path, contentType }: Target,
  chunks: AsyncIterable<Uint8Array>,
  part: Buffer,
): Promise<WrittenFile> {
  const hash = createHash('sha256');
  const headers = { 'Content-Type': contentType };
  let bytes = 0;
  let filled = 0;
  let parts: Parts | null = null;
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      for (let from = 0; from < chunk.length; ) {
        const taken = Math.min(chunk.length - from, part.length - filled);
        part.set(chunk.subarray(from, from + taken), filled);
        from += taken;
        filled += taken;
        if (filled < part.length) continue;
        parts ??= await beginParts(client, path, headers);
        await parts.send(part);
        filled = 0;
      }
    }
    const rest = part.subarray(0, filled);
    if (parts === null) await client.send(path, { method: 'PUT', headers, body: rest });
    else {
      if (filled > 0) await parts.send(rest);
      await parts.complete();
    }
  } catch (error) {
    await parts?.abort();
    throw error;
  }
  return { bytes, sha256: hash.digest('hex') };
}

interface Parts {
  send(bytes: Uint8Array): Promise<void>;
  complete(): Promise<void>;
  /** What it cannot end, the sweep does. */
  abort(): Promise<void>;
}

async function beginParts(client: S3Client, path: string, headers: Record<string, string>): Promise<Parts> {
  const begun = await client.send(path, { method: 'POST', headers, query: { uploads: '' } });
  const uploadId = readUploadId(begun.body);
  const tags: string[] = [];
  return {
    async send(body) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const answer = await client.send(path, { method: 'PUT', query, body });
      if (!answer.found) throw new Error('The S3 store has forgotten an upload.');
      tags.push(answer.header('etag'));
    },
    async complete() {
      const list = tags.map(
        (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
      );
      const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
      const call = { method: 'POST', query: { uploadId }, body, answerMs: S3_COMPLETE_MS } as const;
      const answer = await client.send(path, call);
      if (!isUploadComplete(answer.body)) throw new Error('The S3 store did not put an upload together.');
    },
    async abort() {
      await client.send(path, { method: 'DELETE', query: { uploadId } }).catch(() => null);
    },
  };
}
