import { HOUR_MS, isoTime } from '../clock.ts';

/**
 * Files are kept until this long after the start of the hour in which their last link ends: that hour, and
 * one for clocks that differ.
 */
const FILES_KEPT_AFTER_MS = 2 * HOUR_MS;

/**
 * Where a file stands, in whichever home, and in its links: `uploads/20261124T07/7/upl_….png`. The path alone says whose
 * file it is, what type it has, and from when on no link leads to it, so nothing has to be noted beside the bytes.
 */
export interface FileName {
  kind: FileKind;
  /** The UTC hour in which its last link ends, as `20261124T07`: it sorts by time. */
  endHour: string;
  agentId: number;
  /** As its kind's: `upl_…`, `img_…`, `vid_…`. */
  id: string;
  contentType: FileType;
}

export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type ImageType = (typeof imageTypes)[number];
export type FileType = ImageType | 'application/json' | 'video/mp4';

const endings: Readonly<Record<FileType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'application/json': 'json',
  'video/mp4': 'mp4',
};

export const fileKinds = ['uploads', 'orders', 'pictures', 'videos'] as const;
export type FileKind = (typeof fileKinds)[number];

const shapes: Readonly<Record<FileKind, { id: RegExp; types: readonly FileType[] }>> = {
  /** Sent by agents, for models to look at. */
  uploads: { id: /^upl_[0-9A-Za-z]{24}$/, types: imageTypes },
  /** What is still to be asked of a provider: no link leads to them. */
  orders: { id: /^vid_[0-9A-Za-z]{20}$/, types: ['application/json'] },
  /** Made by models. */
  pictures: { id: /^img_[0-9A-Za-z]{24}$/, types: imageTypes },
  videos: { id: /^vid_[0-9A-Za-z]{20}$/, types: ['video/mp4'] },
};

export const formatFileName = ({ kind, endHour, agentId, id, contentType }: FileName): string =>
  `${kind}/${endHour}/${agentId}/${id}.${endings[contentType]}`;

/** Letters, digits and one point: there is no path but that of a file of ours. */
const PATH = /^([a-z]+)\/(\d{8}T\d{2})\/([1-9]\d{0,15})\/(\w{1,32})\.([a-z0-9]+)$/;

/** `null`: no file of this service has this path. */
export function parseFileName(path: string): FileName | null {
  const [, kindText, endHour = '', agentId, id = '', ending] = PATH.exec(path) ?? [];
  const kind = fileKinds.find((each) => each === kindText);
  if (kind === undefined || !shapes[kind].id.test(id)) return null;
  const contentType = shapes[kind].types.find((each) => endings[each] === ending);
  if (contentType === undefined) return null;
  return { kind, endHour, agentId: Number(agentId), id, contentType };
}

/** What a browser is told to save it as; `null`: nothing, it is shown. */
export const downloadNameOf = ({ kind, id, contentType }: FileName): string | null =>
  kind === 'videos' ? `${id}.${endings[contentType]}` : null;

export const hourOf = (atMs: number): string => isoTime(atMs).slice(0, 13).replaceAll('-', '');

/** Whether nobody can have a link to what stands under this hour, whosever clock was used. */
export const hasEnded = (endHour: string, nowMs: number): boolean =>
  /^\d{8}T\d{2}$/.test(endHour) && endHour <= hourOf(nowMs - FILES_KEPT_AFTER_MS);
