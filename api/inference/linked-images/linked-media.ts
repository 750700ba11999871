import { type FileName, formatFileName } from '#core/files/file-name.ts';
import type { FileStore, LinkOwner } from '#core/files/file-store.ts';
import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import { checkPublicHttpsUrl, NO_PUBLIC_LINK } from './public-link.ts';

/** What a prompt holds besides text, as far as the hold has to know. */
export interface MediaCount {
  images: number;
  /** To be read whole by the model, or by a paid reader where the model cannot. */
  files: number;
  /** Films, and files that were read for an earlier answer: their tokens cannot be told from a link. */
  others: number;
  /** Where the first of them stands in the body; `null`: there is none. */
  firstAt: string | null;
  /** Where the first stands that is no image: it can be sent by its link alone. */
  firstByLinkAt: string | null;
  linkedImages: LinkedImage[];
  /** Links of any kind so far. */
  links: number;
  rules: LinkRules;
}

export interface LinkRules {
  ownerOf: OwnerOf;
  /** The operator's `limits.linksPerCall`. */
  linksMax: number;
}

/** A link to an image, as a request holds it. */
export interface ImageLink {
  link: string;
  /** Where it stands in the body, such as `frame_images[0].image_url.url`. */
  param: string;
}

export interface LinkedImage extends ImageLink {
  /** The agent's own file. `null`: the image is somewhere else. */
  own: FileName | null;
}

/** Whose file a link leads to, as one agent may know it: what is another's is as good as forged. */
export type OwnerOf = (link: string) => LinkOwner;

export const noMedia = (rules: LinkRules): MediaCount => ({
  images: 0,
  files: 0,
  others: 0,
  firstAt: null,
  firstByLinkAt: null,
  linkedImages: [],
  links: 0,
  rules,
});

export function countMedium(count: MediaCount, kind: 'images' | 'files' | 'others', param: string): void {
  count[kind]++;
  count.firstAt ??= param;
  if (kind !== 'images') count.firstByLinkAt ??= param;
}

/** A link to an image: a public one, or to one that this agent keeps here. */
export function takeImage(count: MediaCount, link: unknown, param: string): ApiError | null {
  if (typeof link !== 'string') return refuseLink(link, param);
  const tooMany = refuseOneMore(count, param);
  if (tooMany !== null) return tooMany;
  const owner = count.rules.ownerOf(link);
  if (owner.kind === 'refused' || (owner.kind === 'ours' && !isImage(owner.name))) return notYours(param);
  const refusal = owner.kind === 'ours' ? null : refuseLink(link, param);
  if (refusal === null)
    count.linkedImages.push({ link, param, own: owner.kind === 'ours' ? owner.name : null });
  return refusal;
}

export const isImage = ({ kind }: FileName): boolean => kind === 'uploads' || kind === 'pictures';

/** Nobody learns what others have. */
export const notYours = (param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\` is no link to an upload of yours that still lives; upload the image again and send its \`url\`.`,
  });

/** Each link is parsed and checked, so a body of thousands would hold up everybody else's calls. */
function refuseOneMore(count: MediaCount, param: string): ApiError | null {
  const { linksMax } = count.rules;
  return ++count.links > linksMax ? tooManyLinks(linksMax, param) : null;
}

export const tooManyLinks = (linksMax: number, param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\` is one link too many: a call may hold at most ${linksMax} links to images and files. Send fewer.`,
  });

/** A link to anything else, of which nobody but the provider reads anything. */
export function takeLink(count: MediaCount, link: unknown, param: string): ApiError | null {
  const tooMany = refuseOneMore(count, param);
  if (tooMany !== null) return tooMany;
  const refused = typeof link === 'string' && count.rules.ownerOf(link).kind === 'refused';
  return refused ? notYours(param) : refuseLink(link, param);
}

/** Of several places for a link every one that is filled, because nobody knows which one a provider reads. */
export function takeLinks(count: MediaCount, places: readonly unknown[], param: string): ApiError | null {
  const filled = places.filter((place) => place !== undefined && place !== null);
  if (filled.length === 0) return refuseLink(undefined, param);
  for (const place of filled) {
    const refusal = takeLink(count, linkOf(place), param);
    if (refusal !== null) return refusal;
  }
  return null;
}

export const linkOf = (value: unknown): unknown => (isRecord(value) ? value.url : value);

export function refuseLink(link: unknown, param: string): ApiError | null {
  if (typeof link !== 'string') {
    return apiError('invalid_request', {
      param,
      message: `\`${param}\` has to hold an https link in \`url\`.`,
    });
  }
  if (/^\s*data:/i.test(link)) return refuseInline(param, typeInLink(link));
  return checkPublicHttpsUrl(link) === null
    ? apiError('invalid_request', { param, message: `\`${param}\` ${NO_PUBLIC_LINK}.` })
    : null;
}

/**
 * Says what to send in place of bytes: uploads take images alone.
 *
 * @param contentType Such as `image/png`; empty: not said.
 */
export const refuseInline = (param: string, contentType = ''): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\` ${INLINE_WORDS[mediumOf(contentType) ?? mediumAt(param)]}`,
  });

/** The content type in a link that holds bytes; empty: it says none. */
export const typeInLink = (link: unknown): string =>
  (typeof link === 'string' ? DATA_TYPE.exec(link.slice(0, DATA_TYPE_CHARS))?.[1] : undefined) ?? '';
const DATA_TYPE_CHARS = 200;
const DATA_TYPE = /^\s{0,20}data:([\w.+-]{1,64}\/[\w.+-]{1,64})/i;

type InlineMedium = 'image' | 'document' | 'video' | 'audio';

function mediumOf(contentType: string): InlineMedium | null {
  if (contentType === '') return null;
  const kind = contentType.slice(0, contentType.indexOf('/')).toLowerCase();
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document';
}

/** A server that fetches nothing by itself takes no link to a document, whatever it holds, but each takes text. */
export const DOCUMENT_ADVICE =
  'Send its text, or a public https link to the document if the provider of the model fetches documents.';

const INLINE_WORDS: Readonly<Record<InlineMedium, string>> = {
  image:
    'holds inline data. Send a public https link instead, or upload the file (`POST /uploads`) and send its link.',
  document: `holds a document inline. ${DOCUMENT_ADVICE}`,
  video: 'holds a video inline. Send a public https link to the video.',
  audio: 'holds audio inline, which is not served. Send a transcript as text.',
};

/** The medium of a part, by the name of the member that holds it. A member with another name holds an image. */
function mediumAt(param: string): InlineMedium {
  const name = param.slice(param.lastIndexOf('.') + 1);
  return MEDIA_BY_MEMBER.get(name) ?? 'image';
}

const MEDIA_BY_MEMBER: ReadonlyMap<string, InlineMedium> = new Map([
  ['file', 'document'],
  ['file_data', 'document'],
  ['file_url', 'document'],
  ['video_url', 'video'],
  ['input_video', 'video'],
  ['input_audio', 'audio'],
]);

export const refuseStored = (param: string): ApiError =>
  apiError('invalid_request', { param, message: `\`${param}\`: stored files are not served. Send a link.` });

/** @param files - `null`: this gateway keeps none, so no link leads to one. */
export function linkOwner(files: Pick<FileStore, 'parseLink'> | null, agentId: number): OwnerOf {
  if (files === null) return () => FOREIGN;
  // A body of four megabytes may name one link twenty thousand times.
  const known = new Map<string, LinkOwner>();
  return (link) => {
    const owner = known.get(link) ?? ownerFor(files.parseLink(link), agentId);
    known.set(link, owner);
    return owner;
  };
}

const FOREIGN: LinkOwner = { kind: 'foreign' };

const ownerFor = (owner: LinkOwner, agentId: number): LinkOwner =>
  owner.kind === 'ours' && owner.name.agentId !== agentId ? { kind: 'refused', reason: 'forged' } : owner;

/** An agent's own image that was never sent here, or is deleted already, is refused while that is free of charge. */
export async function refuseMissing(
  files: Pick<FileStore, 'size'> | null,
  images: readonly LinkedImage[],
): Promise<ApiError | null> {
  const own = new Map(
    images.flatMap(({ own: name, param }) =>
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
    message: `\`${param}\`: nothing has been uploaded to this link; PUT the image to its \`upload_url\` first, or start another upload.`,
  });
