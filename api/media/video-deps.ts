import type { FileStore } from '#core/files/file-store.ts';
import type { RateLimiter } from '#core/rates/rate-limiter.ts';
import type { VideoHistory } from '#core/videos/video-history.ts';
import type { Gateway } from '../inference/hold/gateway.ts';

/** What the routes of videos are made of. */
export interface VideoDeps {
  gateway: Gateway;
  videos: VideoHistory;
  /** `null`: this gateway keeps none, so it makes no videos. */
  files: FileStore | null;
  /** Of reads of jobs, by key. */
  reads: RateLimiter;
  /** Of the API, with `/v1` at its end. */
  publicUrl: string;
  /** What is wrong with a link that leads to no public address, in words for behind its field; `null`: anybody can follow it. */
  refusePrivate: (url: string) => Promise<string | null>;
}
