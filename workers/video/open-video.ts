import type { NanoUsd } from '#core/money.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import type { Ending } from './end-video.ts';
import type { PollState } from './next-video-step.ts';

/** What a worker keeps of a video that has not ended. All but `job` is lost with the process, and may be. */
export interface OpenVideo {
  job: VideoJob;
  /** By the monotonic clock, as all times here. */
  dueMs: number;
  running: boolean;
  /** When this process came to know of it, or changed it last: what the journal was asked before says less. */
  changedMs: number;
  /** When a claim was first seen that is not this process' own. */
  claimSeenMs: number | null;
  /** Of a claim of this process under which nothing has been sent. */
  unsent: string | null;
  /** Of a step that failed, in a row. */
  failures: number;
  /** Downloads that failed at the provider: storage that was down is not its fault. */
  sourceFailures: number;
  answers: Omit<PollState, 'ageMs'>;
  /** What the journal still has to learn; told again, the same each time, until it has. */
  owed: Owed | null;
}

export type Owed =
  | { do: 'note_job'; nonce: string; providerJobId: string }
  | { do: 'withdraw'; nonce: string }
  /** `booked`: what the ledger said when it took it, though perhaps not for good yet. */
  | { do: 'end'; ending: Ending; booked: Booked | null };

export interface Booked {
  chargedNanoUsd: NanoUsd;
  overrunNanoUsd: NanoUsd;
}

export const openVideo = (job: VideoJob, nowMs: number, waitMs: number): OpenVideo => ({
  job,
  dueMs: nowMs + waitMs,
  running: false,
  changedMs: nowMs,
  claimSeenMs: null,
  unsent: null,
  failures: 0,
  sourceFailures: 0,
  answers: NO_ANSWERS,
  owed: null,
});

export const NO_ANSWERS: OpenVideo['answers'] = { working: 0, unclear: 0, missing: 0, costless: 0 };

/** Whose claim it is that stands in the journal. */
export const isOwnClaim = ({ job, unsent }: OpenVideo): boolean =>
  job.claim !== null && job.claim.nonce === unsent;
