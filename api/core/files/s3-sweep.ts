import { DAY_MS } from '../clock.ts';
import { limitTasks } from '../limit-tasks.ts';
import { type FileKind, hasEnded, parseFileName } from './file-name.ts';
import type { S3Client } from './s3-client.ts';
import { readObjectPage, readUploadPage } from './s3-xml.ts';

/** Files that are deleted at one time. */
const S3_DELETES_AT_ONCE = 16;
/** An upload of many parts that is older belongs to a process that has died. */
export const S3_UPLOAD_MS = DAY_MS;

/** By name, so by time: the oldest first. */
export async function deleteEndedOf(
  client: S3Client,
  kind: FileKind,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const inTurn = limitTasks(S3_DELETES_AT_ONCE);
  for (let after = ''; ; ) {
    const query = { 'list-type': '2', prefix: `${kind}/`, ...(after === '' ? {} : { 'start-after': after }) };
    const page = readObjectPage(await list(client, query, signal));
    const names = page.Contents.map(({ Key }) => Key);
    // What somebody else put here is not touched.
    const ended = names.filter((name) => hasEnded(parseFileName(name)?.endHour ?? '', nowMs));
    await Promise.all(ended.map((name) => inTurn(() => client.send(name, { method: 'DELETE', signal }))));
    after = names.at(-1) ?? '';
    const live = parseFileName(after) !== null && ended.at(-1) !== after;
    if (live || after === '' || !page.IsTruncated) return;
  }
}

/** Ends uploads of processes that died in the middle. No list shows their parts, and they are paid for. */
export async function abortLostUploads(
  client: S3Client,
  kind: FileKind,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const inTurn = limitTasks(S3_DELETES_AT_ONCE);
  for (let after: Record<string, string> = {}; ; ) {
    const query = { uploads: '', prefix: `${kind}/`, ...after };
    const page = readUploadPage(await list(client, query, signal));
    const uploads = page.Upload.map(({ Key, UploadId, Initiated }) => ({
      path: Key,
      uploadId: UploadId,
      begunAtMs: Date.parse(Initiated),
    }));
    const lost = uploads.filter(
      ({ path, uploadId, begunAtMs }) =>
        parseFileName(path) !== null && uploadId !== '' && begunAtMs + S3_UPLOAD_MS < nowMs,
    );
    await Promise.all(
      lost.map(({ path, uploadId }) =>
        inTurn(() => client.send(path, { method: 'DELETE', query: { uploadId }, signal })),
      ),
    );
    const last = uploads.at(-1);
    // Without a marker the same page would come again.
    if (last === undefined || last.path === '' || !page.IsTruncated) return;
    after = { 'key-marker': last.path, 'upload-id-marker': last.uploadId };
  }
}

async function list(client: S3Client, query: Record<string, string>, signal: AbortSignal): Promise<Buffer> {
  const { found, body } = await client.send('', { method: 'GET', query, signal });
  if (!found) throw new Error('The S3 store has no such bucket.');
  return body;
}
