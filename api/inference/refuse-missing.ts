import { formatFileName } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { LinkedPicture } from './linked-media.ts';

/** An agent's own picture that was never sent here, or is deleted already, is refused while that is free of charge. */
export async function refuseMissing(
  files: Pick<FileStore, 'size'> | null,
  pictures: readonly LinkedPicture[],
): Promise<ApiError | null> {
  const own = new Map(
    pictures.flatMap(({ own: name, param }) =>
      name === null ? [] : [[formatFileName(name), { name, param }]],
    ),
  );
  if (files === null || own.size === 0) return null;
  const refusals = await Promise.all(
    [...own.values()].map(async ({ name, param }) => {
      // A store that is down says nothing of the file: the provider may reach it.
      const size = await files.size(name).catch(() => UNKNOWN);
      return size === null ? missing(param) : null;
    }),
  );
  return refusals.find((refusal) => refusal !== null) ?? null;
}

const UNKNOWN = -1;

export const missing = (param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\`: nothing has been uploaded to this link; PUT the picture to its \`upload_url\` first, or start another upload.`,
  });
