import { SECOND_MS, type Timer } from '#core/clock.ts';
import type { Ledger, Unavailable } from '#core/ledger/ledger.ts';
import { limitTasks } from '#core/limit-tasks.ts';
import { VIDEO_DOWNLOADS_AT_ONCE, VIDEO_POLL_MS, VIDEO_POLLS_AT_ONCE } from '#core/limits.ts';
import type { NanoUsd } from '#core/money.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { Deadlines } from './deadlines.ts';
import { followVideo } from './follow-video.ts';
import { nextVideoStep } from './next-video-step.ts';
import { isOwnClaim, type OpenVideo, openVideo } from './open-video.ts';
import { again, settleFailed, settleUnconfirmed } from './settle-unconfirmed.ts';
import { submitInTurn } from './submit-video.ts';
import type { After, Turns, VideoParts } from './video-parts.ts';
import { VideoProvider } from './video-provider.ts';

/** Orders with images that a process has in memory at one time. The others wait. */
const VIDEO_LARGE_ORDERS_AT_ONCE = 2;
/** Submissions to one provider at one time. */
const VIDEO_SUBMISSIONS_AT_ONCE = 8;
/** How often a worker asks the ledger for open videos. An embedded gateway is told of each. */
const VIDEOS_POLL_MS = 5 * SECOND_MS;
/** How often a worker checks what is due. */
const VIDEO_TICK_MS = SECOND_MS / 4;

export interface VideoWorkerOptions
  extends Pick<VideoParts, 'catalog' | 'files' | 'health' | 'clock' | 'log' | 'claimGraceMs' | 'onEnded'> {
  ledger: Pick<Ledger, 'execute' | 'readVideo' | 'listOpenVideos'>;
  /** Parts of the ledger that answer for themselves, if it has some: one that is away keeps the others' videos from nobody. */
  shards?: readonly OpenVideosOf[];
  /** Which of the open videos this process works on. Two at once are safe: only one of them can claim. */
  isOurs: (videoId: string) => boolean;
  random?: () => number;
}

export interface OpenVideosOf {
  has: (agentId: number) => boolean;
  listOpenVideos: () => Promise<VideoJob[] | Unavailable>;
}

/** Jobs that are spread over their first polls by so much each: thousands are found at a start. */
const SPREAD_MS = 1;

/**
 * Takes videos from order to file: hands each to its provider once, looks after it, fetches the result, and ends its hold.
 * All it knows comes from the ledger, so a process may die at any moment; see `next-video-step.ts` for what is done next.
 */
export class VideoWorker {
  readonly #options: VideoWorkerOptions;
  readonly #shards: readonly OpenVideosOf[];
  readonly #open = new Map<number, OpenVideo>();
  readonly #deadlines: Deadlines;
  /** Of requests that make jobs: they may outlive everything else. */
  readonly #sending: Deadlines;
  readonly #videos: VideoProvider;
  readonly #parts: VideoParts;
  readonly #closing = new AbortController();
  readonly #random: () => number;
  /** Since the ledger was asked last. */
  readonly #endedMeanwhile = new Set<number>();
  #tickTimer: Timer | null = null;
  #looking: Promise<void> | null = null;
  #nextLookMs = 0;
  #running = 0;
  #heldNanoUsd: NanoUsd = 0n;
  #downloads = 0;
  #idle: (() => void) | null = null;

  constructor(options: VideoWorkerOptions) {
    this.#options = options;
    const { ledger, shards = [{ has: () => true, listOpenVideos: () => ledger.listOpenVideos() }] } = options;
    this.#shards = shards;
    this.#random = options.random ?? Math.random;
    this.#deadlines = new Deadlines(options.clock);
    this.#sending = new Deadlines(options.clock);
    this.#videos = new VideoProvider({ sending: this.#sending, reading: this.#deadlines });
    this.#parts = {
      ...options,
      videos: this.#videos,
      deadlines: this.#deadlines,
      turns: this.#turns(),
      closing: this.#closing.signal,
    };
  }

  /** Of this process. */
  get open(): number {
    return this.#open.size;
  }

  /** Of the operator's pool, by the open videos of this process. */
  get heldNanoUsd(): NanoUsd {
    return this.#heldNanoUsd;
  }

  has(callId: number): boolean {
    return this.#open.has(callId);
  }

  /** Steps that are being done at this moment. */
  get running(): number {
    return this.#running;
  }

  get downloads(): number {
    return this.#downloads;
  }

  async start(): Promise<void> {
    await this.#beginLook();
    this.#tickIn();
  }

  /** A video has just been ordered in this process; others are found by looking. */
  async watch(agentId: number, videoId: string): Promise<void> {
    if (this.#closing.signal.aborted) return;
    try {
      const job = await this.#options.ledger.readVideo(agentId, videoId);
      if (job === null || job === 'unavailable' || job.end !== null) return;
      if (!this.#open.has(job.callId)) this.#add(job, 0);
    } catch (error) {
      this.#options.log.warn('a video that was just ordered cannot be read, it is found later', {
        agentId,
        error,
      });
    }
  }

  /** What is being sent has its answer awaited for so long; everything else waits for the next start. */
  async stop(sendingWaitMs: number): Promise<void> {
    this.#closing.abort();
    this.#deadlines.fireAll();
    if (sendingWaitMs === 0) this.#sending.fireAll();
    const timer = this.#options.clock.setTimer(sendingWaitMs, () => this.#sending.fireAll());
    await this.#looking;
    await this.#whenIdle();
    timer.cancel();
    this.#tickTimer?.cancel();
    await this.#videos.close();
    this.#open.clear();
    this.#heldNanoUsd = 0n;
  }

  #turns(): Turns {
    const submissions = new Map<string, ReturnType<typeof limitTasks>>();
    const polls = new Map<string, ReturnType<typeof limitTasks>>();
    const of = (turns: typeof polls, providerId: string, limit: number) => {
      const known = turns.get(providerId) ?? limitTasks(limit);
      turns.set(providerId, known);
      return known;
    };
    const download = limitTasks(VIDEO_DOWNLOADS_AT_ONCE);
    return {
      submitLarge: limitTasks(VIDEO_LARGE_ORDERS_AT_ONCE),
      submit: (providerId) => of(submissions, providerId, VIDEO_SUBMISSIONS_AT_ONCE),
      poll: (providerId) => of(polls, providerId, VIDEO_POLLS_AT_ONCE),
      download: (task) =>
        download(async () => {
          this.#downloads++;
          try {
            return await task();
          } finally {
            this.#downloads--;
          }
        }),
    };
  }

  #tickIn(): void {
    this.#tickTimer = this.#options.clock.setTimer(VIDEO_TICK_MS, () => this.#tick());
  }

  /** One timer for all: a timer each would be dear with thousands that wait most of the time. */
  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#deadlines.look();
    this.#sending.look();
    if (!this.#closing.signal.aborted) this.#beginDue(nowMs);
    this.#tickIn();
  }

  #beginDue(nowMs: number): void {
    if (nowMs >= this.#nextLookMs) void this.#beginLook();
    for (const video of this.#open.values()) {
      if (!video.running && video.dueMs <= nowMs) void this.#run(video);
    }
  }

  async #run(video: OpenVideo): Promise<void> {
    const { clock, log } = this.#options;
    video.running = true;
    this.#running++;
    let after: Awaited<ReturnType<typeof runVideoStep>>;
    try {
      after = await runVideoStep(this.#parts, video);
    } catch (error) {
      const { agentId, callId } = video.job;
      log.error('a step of a video failed, it is tried again', { agentId, callId, error });
      after = again(video);
    }
    this.#running--;
    video.running = false;
    const nowMs = clock.monotonicMs();
    video.changedMs = nowMs;
    if (after === 'over') {
      this.#drop(video);
      this.#endedMeanwhile.add(video.job.callId);
    } else video.dueMs = nowMs + after.waitMs * (0.9 + 0.2 * this.#random());
    if (this.#running === 0) this.#idle?.();
  }

  #beginLook(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#options;
    const look = { askedMs: clock.monotonicMs(), found: 0 };
    this.#endedMeanwhile.clear();
    const lookAt = async (shard: OpenVideosOf) => {
      try {
        const jobs = await shard.listOpenVideos();
        if (jobs !== 'unavailable') this.#takeOver(jobs, shard, look);
      } catch (error) {
        log.error('the open videos cannot be listed, it is tried again', { error });
      }
    };
    await Promise.all(this.#shards.map(lookAt));
    this.#nextLookMs = clock.monotonicMs() + VIDEOS_POLL_MS;
  }

  /** What has changed here since the ledger was asked is known better here. */
  #takeOver(
    jobs: readonly VideoJob[],
    { has }: OpenVideosOf,
    look: { askedMs: number; found: number },
  ): void {
    const { askedMs } = look;
    const listed = new Set<number>();
    for (const job of jobs) {
      if (!this.#options.isOurs(job.videoId)) continue;
      listed.add(job.callId);
      const video = this.#open.get(job.callId);
      if (video === undefined) {
        if (this.#endedMeanwhile.has(job.callId)) continue;
        this.#add(job, Math.min(VIDEO_POLL_MS, SPREAD_MS * look.found++));
      } else if (!video.running && video.changedMs < askedMs) this.#refresh(video, job);
    }
    for (const [callId, video] of this.#open) {
      const isGone =
        !listed.has(callId) && has(video.job.agentId) && !video.running && video.changedMs < askedMs;
      // What the journal does not have yet is ours to tell, whoever works on the rest.
      if (isGone && video.owed === null && video.unsent === null) this.#drop(video);
    }
  }

  #add(job: VideoJob, waitMs: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    const video = openVideo(job, nowMs, waitMs * this.#random());
    if (job.claim !== null) video.claimSeenMs = nowMs;
    this.#open.set(job.callId, video);
    this.#heldNanoUsd += job.estimatedNanoUsd;
    if (waitMs === 0 && !this.#closing.signal.aborted) void this.#run(video);
  }

  #drop({ job }: OpenVideo): void {
    if (this.#open.delete(job.callId)) this.#heldNanoUsd -= job.estimatedNanoUsd;
  }

  #refresh(video: OpenVideo, job: VideoJob): void {
    const isOtherClaim = job.claim?.nonce !== video.job.claim?.nonce;
    if (job.submitted !== null && video.job.submitted === null) video.dueMs = 0;
    video.job = job;
    if (job.claim === null || isOwnClaim(video)) video.claimSeenMs = null;
    else if (isOtherClaim || video.claimSeenMs === null) {
      video.claimSeenMs = this.#options.clock.monotonicMs();
      video.dueMs = 0;
    }
  }

  #whenIdle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }
}

/** One step of one video: what is owed to the journal first, then what the pure rules say. */
async function runVideoStep(parts: VideoParts, video: OpenVideo): Promise<After> {
  const { catalog, claimGraceMs, clock } = parts;
  const { job, owed, claimSeenMs } = video;
  if (owed !== null) return settleUnconfirmed(parts, video, owed);
  const claimKnownMs = claimSeenMs === null ? 0 : clock.monotonicMs() - claimSeenMs;
  const step = nextVideoStep(isOwnClaim(video) ? { ...job, claim: null } : job, {
    nowMs: clock.now(),
    claimKnownMs,
    claimGraceMs,
  });
  switch (step.do) {
    case 'submit':
      return submitInTurn(parts, video);
    case 'poll':
      return followVideo(parts, video, step.providerJobId);
    case 'await_claim':
      return { waitMs: claimGraceMs - claimKnownMs };
    case 'fail':
      return settleFailed(parts, video, catalog.provider(job.providerId), step);
  }
}
