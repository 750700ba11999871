import type { FileStore } from '#core/files/file-store.ts';
import type { Log } from '#core/log.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import {
  type ImageLink,
  isImage,
  type LinkedImage,
  missing,
  notYours,
  refuseLink,
  tooManyLinks,
} from '../inference/linked-images/linked-media.ts';

export interface ImageCheck {
  /** `null`: this gateway keeps no files, so no link leads to one. */
  files: Pick<FileStore, 'parseLink' | 'size'> | null;
  /** What is wrong with a link that leads to no public address, to be put behind its field's name; `null`: nothing. */
  refusePrivate: (url: string) => Promise<string | null>;
  log: Log;
  /** The operator's `limits.linksPerCall`. */
  linksMax: number;
}

/** An image at a public address, or a file of the agent's own that is there. */
export interface CheckedImage extends LinkedImage {
  /** The size of the agent's own file. */
  bytes: number;
}

/** In the order in which they are sent. The provider may follow the links that pass, or be sent the agent's own images. */
export async function checkImages(
  check: ImageCheck,
  agentId: number,
  images: readonly ImageLink[],
): Promise<CheckedImage[] | ApiError> {
  const oneMore = images[check.linksMax];
  if (oneMore !== undefined) return tooManyLinks(check.linksMax, oneMore.param);
  let checked: (CheckedImage | ApiError)[];
  try {
    checked = await Promise.all(images.map((each) => checkImage(check, agentId, each)));
  } catch (error) {
    check.log.error('the images of a request could not be looked at', { agentId, error });
    return apiError('gateway_unavailable');
  }
  const passed: CheckedImage[] = [];
  for (const each of checked) {
    if ('refused' in each) return each;
    passed.push(each);
  }
  return passed;
}

async function checkImage(
  { files, refusePrivate }: ImageCheck,
  agentId: number,
  { param, link }: ImageLink,
): Promise<CheckedImage | ApiError> {
  const owner = files?.parseLink(link) ?? { kind: 'foreign' };
  switch (owner.kind) {
    case 'foreign': {
      const refusal = refuseLink(link, param);
      if (refusal !== null) return refusal;
      const words = await refusePrivate(link);
      return words === null ? { link, param, own: null, bytes: 0 } : refuse(param, `\`${param}\` ${words}.`);
    }
    case 'refused':
      return notYours(param);
    case 'ours': {
      const { name } = owner;
      if (name.agentId !== agentId || !isImage(name)) return notYours(param);
      const bytes = (await files?.size(name)) ?? null;
      return bytes === null ? missing(param) : { link, param, own: name, bytes };
    }
    default:
      return owner satisfies never;
  }
}

const refuse = (param: string, message: string): ApiError => apiError('invalid_request', { param, message });
