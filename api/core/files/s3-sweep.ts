import { DAY_MS } from '../clock.ts';
import { limitTasks } from '../limit-tasks.ts';
import { type FileKind, hasEnded, parseFileName } from './file-name.ts';
import type { S3Client } from './s3-client.ts';

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
    const page = await list(client, query, signal);
    const names = [...page.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key);
    // What somebody else put here is not touched.
    const ended = names.filter((name) => hasEnded(parseFileName(name)?.endHour ?? '', nowMs));
    await Promise.all(ended.map((name) => inTurn(() => client.send(name, { method: 'DELETE', signal }))));
    after = names.at(-1) ?? '';
    const live = parseFileName(after) !== null && ended.at(-1) !== after;
    if (live || after === '' || !isTruncated(page)) return;
  }
}

/** Of processes that died in the middle: no list shows their parts, and they are paid for. */
export async function abortLostUploads(
  client: S3Client,
  kind: FileKind,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const inTurn = limitTasks(S3_DELETES_AT_ONCE);
  for (let after: Record<string, string> = {}; ; ) {
    const page = await list(client, { uploads: '', prefix: `${kind}/`, ...after }, signal);
    const uploads = page
      .split('<Upload>')
      .slice(1)
      .map((text) => ({
        path: memberOf(text, 'Key'),
        uploadId: memberOf(text, 'UploadId'),
        begunAtMs: Date.parse(memberOf(text, 'Initiated')),
      }));
    const lost = uploads.filter(
      ({ path, begunAtMs }) => parseFileName(path) !== null && begunAtMs + S3_UPLOAD_MS < nowMs,
    );
    await Promise.all(
      lost.map(({ path, uploadId }) =>
        inTurn(() => client.send(path, { method: 'DELETE', query: { uploadId }, signal })),
      ),
    );
    const last = uploads.at(-1);
    if (last === undefined || !isTruncated(page)) return;
    after = { 'key-marker': last.path, 'upload-id-marker': last.uploadId };
  }
}

async function list(client: S3Client, query: Record<string, string>, signal: AbortSignal): Promise<string> {
  const { found, body } = await client.send('', { method: 'GET', query, signal });
  if (!found) throw new Error('The S3 store has no such bucket.');
  return body.toString('utf8');
}

/** The text of the first such member; empty where there is none. */
function memberOf(xml: string, name: string): string {
  const tagAt = xml.indexOf(`<${name}>`);
  if (tagAt < 0) return '';
  const from = tagAt + name.length + '<>'.length;
  const end = xml.indexOf('<', from);
  return end >= 0 && xml.startsWith(`</${name}>`, end) ? xml.slice(from, end) : '';
}

const isTruncated = (page: string): boolean => page.includes('<IsTruncated>true<');
