import { isoTime } from '../clock.ts';
import { FILES_KEPT_AFTER_MS } from '../limits.ts';

/**
 * Where a file stands, in whichever home, and in its links: `uploads/20261124T07/7/upl_….png`. The path alone says whose
 * file it is, what type it has, and from when on no link leads to it, so nothing has to be noted beside the bytes.
 */
export interface FileName {
  kind: FileKind;
  /** The UTC hour in which its last link ends, as `20261124T07`: it sorts by time. */
  endHour: string;
  agentId: number;
  /** `upl_…` */
  id: string;
  contentType: FileType;
}

export const fileKinds = ['uploads', 'orders', 'pictures', 'videos'] as const;
export type FileKind = (typeof fileKinds)[number];

export const fileTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type FileType = (typeof fileTypes)[number];

const endings: Readonly<Record<FileType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
};

export const formatFileName = ({ kind, endHour, agentId, id, contentType }: FileName): string =>
  `${kind}/${endHour}/${agentId}/${id}.${endings[contentType]}`;

/** Letters, digits and one point: there is no path but that of a file of ours. */
const SHAPE = /^([a-z]+)\/(\d{8}T\d{2})\/([1-9]\d{0,15})\/(upl_[0-9A-Za-z]{24})\.([a-z]+)$/;

/** `null`: no file of this service has this path. */
export function parseFileName(path: string): FileName | null {
  const [, kindText, endHour = '', agentId, id = '', ending] = SHAPE.exec(path) ?? [];
  const kind = fileKinds.find((each) => each === kindText);
  const contentType = fileTypes.find((each) => endings[each] === ending);
  if (kind === undefined || contentType === undefined) return null;
  return { kind, endHour, agentId: Number(agentId), id, contentType };
}

export const hourOf = (atMs: number): string => isoTime(atMs).slice(0, 13).replaceAll('-', '');

/** Whether nobody can have a link to what stands under this hour, whosever clock was used. */
export const hasEnded = (endHour: string, nowMs: number): boolean =>
  /^\d{8}T\d{2}$/.test(endHour) && endHour <= hourOf(nowMs - FILES_KEPT_AFTER_MS);
