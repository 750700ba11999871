import { timingSafeEqual } from 'node:crypto';
import { type Clock, SECOND_MS } from '../clock.ts';
import { downloadNameOf, type FileName, fileKinds, formatFileName } from './file-name.ts';
import type { FileStore } from './file-store.ts';
import { parseOwnLink } from './own-link.ts';
import { createS3Client, type S3Settings } from './s3-client.ts';
import { readS3Times, type S3Request, s3Seconds, signS3Link } from './s3-link.ts';
import { abortLostUploads, deleteEndedOf } from './s3-sweep.ts';
import { uploadToS3 } from './s3-upload.ts';

export interface S3FileStore extends FileStore {
  kind: 's3';
  /** Where every link leads to: scheme, host and port. */
  linkOrigin: string;
}

/** Any store that speaks S3, addressed by path, because its certificate seldom names a host for each bucket. */
export function createS3FileStore(settings: S3Settings, clock: Clock): S3FileStore {
  const client = createS3Client(settings, clock);
  const base = `${settings.publicEndpoint}/${settings.bucket}/`;

  const sign = (
    name: FileName,
    request: Pick<S3Request, 'method' | 'headers' | 'query'>,
    untilMs: number,
  ) => {
    const signedAtMs = clock.now();
    const url = base + formatFileName(name);
    return signS3Link({ ...request, url, signedAtMs, seconds: s3Seconds(signedAtMs, untilMs) }, settings);
  };

  return {
    kind: 's3',
    linkOrigin: new URL(settings.publicEndpoint).origin,
    async putLink(name, bytes, untilMs) {
      // The second is what makes the store refuse a second PUT.
      const headers = { 'Content-Type': name.contentType, 'If-None-Match': '*' };
      const signed = { ...headers, 'Content-Length': String(bytes) };
      return { url: sign(name, { method: 'PUT', headers: signed }, untilMs), headers };
    },
    getLink: async (name, untilMs) => sign(name, reading(name), untilMs),
    write: (name, chunks) =>
      uploadToS3(client, { path: formatFileName(name), contentType: name.contentType }, chunks),
    async read(name, bytesMax) {
      const { found, body } = await client.send(formatFileName(name), { method: 'GET', bytesMax });
      return found ? body : null;
    },
    async size(name) {
      const { found, header } = await client.send(formatFileName(name), { method: 'HEAD' });
      return found ? Number(header('content-length')) : null;
    },
    async delete(name) {
      await client.send(formatFileName(name), { method: 'DELETE' });
    },
    parseLink(url) {
      const own = parseOwnLink(url, base);
      if (!own.ok) return own.owner;
      const { name, query } = own;
      const times = readS3Times(query);
      const genuine =
        times && signS3Link({ ...reading(name), url: base + formatFileName(name), ...times }, settings);
      // What another client would write in other letters is no link of ours.
      if (!times || !genuine || !isSame(genuine.slice(genuine.indexOf('?') + 1), query)) {
        return { kind: 'refused', reason: 'forged' };
      }
      const untilMs = times.signedAtMs + times.seconds * SECOND_MS;
      return clock.now() < untilMs ? { kind: 'ours', name, untilMs } : { kind: 'refused', reason: 'expired' };
    },
    async deleteEnded(nowMs, signal) {
      for (const kind of fileKinds) await deleteEndedOf(client, kind, nowMs, signal);
      // Last: not every store lists them.
      for (const kind of fileKinds) await abortLostUploads(client, kind, nowMs, signal);
    },
  };
}

function reading(name: FileName): Pick<S3Request, 'method' | 'query'> {
  const downloadName = downloadNameOf(name);
  if (downloadName === null) return { method: 'GET' };
  return {
    method: 'GET',
    query: { 'response-content-disposition': `attachment; filename="${downloadName}"` },
  };
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
