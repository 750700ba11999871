import { ENDED_VIDEO_KEPT_MS, ENDED_VIDEOS_KEPT_MAX } from '../../limits.ts';
import type { VideoJob } from '../../videos/video-job.ts';

/**
 * An agent's videos by their ids and by their `Idempotency-Key`. A job is never changed, only replaced, so whoever has
 * read one may keep it.
 */
export class VideoTable implements Iterable<VideoJob> {
  readonly #jobs = new Map<string, VideoJob>();
  readonly #idsByKey = new Map<string, string>();
  #open = 0;

  /** Throws on a video that stands twice in `jobs`. */
  constructor(jobs: Iterable<VideoJob> = []) {
    for (const job of jobs) {
      if (this.#jobs.has(job.videoId)) throw new Error('a video stands in it twice');
      this.set(job);
    }
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** How many have not ended. */
  get open(): number {
    return this.#open;
  }

  get(videoId: string): VideoJob | undefined {
    return this.#jobs.get(videoId);
  }

  /** The newest of this key. */
  findByKey(idempotencyKey: string): VideoJob | undefined {
    const videoId = this.#idsByKey.get(idempotencyKey);
    return videoId === undefined ? undefined : this.#jobs.get(videoId);
  }

  set(job: VideoJob): void {
    const { videoId, idempotencyKey } = job;
    const before = this.#jobs.get(videoId);
    if (before?.end === null) this.#open--;
    if (before !== undefined && before.idempotencyKey !== idempotencyKey) this.#freeKey(before);
    this.#jobs.set(videoId, job);
    if (job.end === null) this.#open++;
    if (idempotencyKey !== null) this.#idsByKey.set(idempotencyKey, videoId);
  }

  /** Drops what no longer counts at `atMs`. */
  forget(atMs: number): void {
    for (const job of this.#jobs.values()) if (!isVideoKept(job, atMs)) this.#delete(job);
  }

  /** Keeps as many ended ones as it may. Those of one millisecond go in the order of their ids, as they do in Redis. */
  forgetMany(): void {
    while (this.#jobs.size - this.#open > ENDED_VIDEOS_KEPT_MAX) {
      let oldest: VideoJob | null = null;
      for (const job of this.#jobs.values()) if (isEndedBefore(job, oldest)) oldest = job;
      if (oldest !== null) this.#delete(oldest);
    }
  }

  #delete(job: VideoJob): void {
    this.#jobs.delete(job.videoId);
    this.#freeKey(job);
  }

  #freeKey({ videoId, idempotencyKey }: VideoJob): void {
    if (idempotencyKey !== null && this.#idsByKey.get(idempotencyKey) === videoId) {
      this.#idsByKey.delete(idempotencyKey);
    }
  }

  [Symbol.iterator](): Iterator<VideoJob> {
    return this.#jobs.values();
  }
}

/** Exactly so long, whenever it is cleared away, so that every implementation of the ledger answers alike. */
export const isVideoKept = ({ end }: VideoJob, nowMs: number): boolean =>
  end === null || nowMs < end.atMs + ENDED_VIDEO_KEPT_MS;

function isEndedBefore({ end, videoId }: VideoJob, other: VideoJob | null): boolean {
  if (end === null) return false;
  if (other === null || other.end === null) return true;
  return end.atMs < other.end.atMs || (end.atMs === other.end.atMs && videoId < other.videoId);
}
