import { createHash } from 'node:crypto';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS } from '#core/clock.ts';
import { type FileName, hourOf } from '#core/files/file-name.ts';
import { type FileStore, StorageFullError } from '#core/files/file-store.ts';
import { imageTypeOf } from '#core/files/image-type.ts';
import { base62Of } from '#core/ids.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { PlacedImage } from '../inference/admit/place-inline-images.ts';
import { refuseUpload, type UploadDeps } from './create-upload.ts';

interface KeepDeps extends Omit<UploadDeps, 'files'> {
  files: Pick<FileStore, 'getLink' | 'size' | 'write'>;
}

const ID_CHARS = 24;

/**
 * Names the upload as which an image of a request would be kept, without asking anybody. `null`: its type is none of those that
 * uploads may have.
 *
 * Clients send a whole conversation with each of its turns, so the same bytes have the same id until the end of the next day: they are
 * kept and counted once a day.
 */
export async function placeInlineImage(
  deps: KeepDeps,
  agentId: number,
  image: Buffer,
): Promise<PlacedImage | null> {
  const contentType = imageTypeOf(image);
  if (contentType === null) return null;
  const nowMs = deps.clock.now();
  const untilMs = nowMs - (nowMs % DAY_MS) + 2 * DAY_MS;
  const id = `upl_${base62Of(createHash('sha256').update(image).digest(), ID_CHARS)}`;
  const name: FileName = { kind: 'uploads', endHour: hourOf(untilMs), agentId, id, contentType };
  const link = await deps.files.getLink(name, untilMs);
  return { link, keep: () => keep(deps, name, image) };
}

/** `null`: it is kept. */
async function keep(
  { ledger, files, clock, limits }: KeepDeps,
  name: FileName,
  image: Buffer,
): Promise<ApiError | null> {
  try {
    if ((await files.size(name)) !== null) return null;
    const { uploadsPerDay } = limits();
    const started = await executeDurably(ledger, {
      type: 'start_upload',
      agentId: name.agentId,
      uploadId: name.id,
      limits: { uploadsPerDay },
    });
    if (!started.ok) {
      const refused =
        started.reason === 'unknown_agent' ? ({ ok: false, reason: 'unavailable' } as const) : started;
      return refuseUpload(refused, clock.now());
    }
    await files.write(name, inOnePiece(image));
    return null;
  } catch (error) {
    if (error instanceof StorageFullError) return apiError('service_unavailable');
    throw error;
  }
}

async function* inOnePiece(image: Buffer): AsyncGenerator<Uint8Array> {
  yield image;
}
