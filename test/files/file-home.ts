import { DAY_MS, HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { type FileName, type FileType, hourOf } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { randomBase62 } from '#core/ids.ts';
import { RESULT_LINK_MS, VIDEO_KEPT_MS } from '#core/limits.ts';
import { VIDEO_ORDER_KEPT_MS } from '../../api/media/order-video.ts';

/** A home of files that answers real requests. */
export interface FileHome extends AsyncDisposable {
  /** Host and port of what the links lead to. */
  address: string;
  nowMs(): number;
  store: FileStore;
  /** What `make` makes with a store, that long after it was made. */
  later<T>(ms: number, make: (store: FileStore, nowMs: number) => Promise<T>): Promise<T>;
  /** A home with the same files and other secrets. */
  withOtherSecret(): FileStore;
  /** Puts what is not a file of ours where files are; answers whether it is there. */
  putForeign(): Promise<() => Promise<boolean>>;
  /** What stands there of files that did not become whole. */
  leftovers(): Promise<string[]>;
}

let agents = 0;

/** A file of an agent of its own, with a link that ends in a day. */
export function newName(nowMs: number, contentType: FileType = 'image/png'): FileName {
  agents += 1;
  return {
    kind: 'uploads',
    endHour: hourOf(nowMs + DAY_MS),
    agentId: agents,
    id: `upl_${randomBase62(24)}`,
    contentType,
  };
}

export const newVideo = (nowMs: number): FileName => ({
  ...newName(nowMs + VIDEO_KEPT_MS - DAY_MS),
  kind: 'videos',
  id: `vid_${randomBase62(20)}`,
  contentType: 'video/mp4',
});

export const newImage = (nowMs: number, contentType: FileType = 'image/webp'): FileName => ({
  ...newName(nowMs + RESULT_LINK_MS - DAY_MS, contentType),
  kind: 'pictures',
  id: `img_${randomBase62(24)}`,
});

export const newOrder = (nowMs: number): FileName => ({
  ...newName(nowMs + VIDEO_ORDER_KEPT_MS - DAY_MS),
  kind: 'orders',
  id: `vid_${randomBase62(20)}`,
  contentType: 'application/json',
});

/** Whole seconds, as links count. */
export const inAnHour = (nowMs: number): number => nowMs - (nowMs % SECOND_MS) + HOUR_MS;

export interface Links {
  name: FileName;
  bytes: number;
  put: string;
  headers: Record<string, string>;
  get: string;
}

export async function makeLinks(
  store: FileStore,
  nowMs: number,
  { bytes = 10, contentType = 'image/png' as FileType, name = newName(nowMs, contentType) } = {},
): Promise<Links> {
  const { url, headers } = await store.putLink(name, bytes, inAnHour(nowMs));
  return { name, bytes, put: url, headers, get: await store.getLink(name, inAnHour(nowMs)) };
}

export const bodyOf = (bytes: number, fill = 7): Uint8Array<ArrayBuffer> => new Uint8Array(bytes).fill(fill);

export const send = (link: string, headers: Record<string, string>, body: Uint8Array<ArrayBuffer>) =>
  fetch(link, { method: 'PUT', headers, body });

/** The bytes, or `null`: there is no such file. */
export async function read(link: string): Promise<Uint8Array | null> {
  const answer = await fetch(link);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return answer.status === 200 ? bytes : null;
}
