import { createHash } from 'node:crypto';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS } from '#core/clock.ts';
import { type FileName, hourOf } from '#core/files/file-name.ts';
import { type FileStore, StorageFullError } from '#core/files/file-store.ts';
import { imageTypeOf } from '#core/files/image-type.ts';
import { base62Of } from '#core/ids.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { refuseUpload, type UploadDeps } from './create-upload.ts';

interface KeepDeps extends Omit<UploadDeps, 'files'> {
  files: Pick<FileStore, 'getLink' | 'size' | 'write'>;
}

const ID_CHARS = 24;

/**
 * Keeps an image that stood in a request as an upload of its agent, and makes a link to it.
 *
 * Clients send a whole conversation with each of its turns, so the same bytes have the same id until the end of the next day: they are
 * kept and counted once a day. `no_image`: none of a type that uploads may have.
 */
export async function keepInlineImage(
  { ledger, files, clock, limits }: KeepDeps,
  agentId: number,
  image: Buffer,
): Promise<string | ApiError | 'no_image'> {
  const contentType = imageTypeOf(image);
  if (contentType === null) return 'no_image';
  const nowMs = clock.now();
  const untilMs = nowMs - (nowMs % DAY_MS) + 2 * DAY_MS;
  const id = `upl_${base62Of(createHash('sha256').update(image).digest(), ID_CHARS)}`;
  const name: FileName = { kind: 'uploads', endHour: hourOf(untilMs), agentId, id, contentType };
  try {
    if ((await files.size(name)) === null) {
      const { uploadsPerDay } = limits();
      const started = await executeDurably(ledger, {
        type: 'start_upload',
        agentId,
        uploadId: id,
        limits: { uploadsPerDay },
      });
      if (!started.ok) {
        const refused = started.reason === 'unknown_agent' ? ({ ok: false, reason: 'unavailable' } as const) : started;
        return refuseUpload(refused, nowMs);
      }
      await files.write(name, inOnePiece(image));
    }
    return await files.getLink(name, untilMs);
  } catch (error) {
    if (error instanceof StorageFullError) return apiError('service_unavailable');
    throw error;
  }
}

async function* inOnePiece(image: Buffer): AsyncGenerator<Uint8Array> {
  yield image;
}
