import { type Clock, SECOND_MS } from '#core/clock.ts';
import { type AttoUsd, formatAttoUsd, parseAttoUsd } from '#core/money.ts';
import { setBounded } from '#core/set-bounded.ts';
import type { BillBook } from '../bill-book.ts';
import type { Rule } from '../script-rule.ts';
import type { VideoRequest } from './video-request.ts';

export type VideoState = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'expired';

/** A job as a test sees it. */
export interface SimVideoJob {
  id: string;
  model: string;
  prompt: string;
  status: VideoState;
  /** How often it was asked for, and its file. */
  polls: number;
  downloads: number;
  costUsd: string;
}

export interface VideoJobEntry extends Omit<SimVideoJob, 'status' | 'costUsd'> {
  generationId: string;
  request: VideoRequest;
  plan: VideoPlan;
  createdAtMs: number;
  costAtto: AttoUsd;
  billed: boolean;
}

export interface VideoBook {
  add(request: VideoRequest, rule: Rule): VideoJobEntry;
  find(id: string): VideoJobEntry | undefined;
  stateOf(job: VideoJobEntry): VideoState;
  /** One more look at it; a finished one is billed by the first. */
  polled(job: VideoJobEntry): VideoState;
  /** The newest, oldest first. */
  list(): readonly SimVideoJob[];
}

interface VideoPlan {
  pendingMs: number;
  inProgressMs: number;
  end: VideoState | 'never';
  error: string;
  /** `undefined`: what it costs. */
  costText: string | null | undefined;
  costAfterPolls: number;
}

const JOBS_KEPT = 50_000;
const NO_TOKENS = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0, images: 0 };

export function createVideoBook(clock: Clock, videoMs: number, bills: BillBook): VideoBook {
  const jobs = new Map<string, VideoJobEntry>();
  let ordinal = 0;

  function stateOf({ createdAtMs, plan }: VideoJobEntry): VideoState {
    const ageMs = clock.now() - createdAtMs;
    if (ageMs < plan.pendingMs) return 'pending';
    return plan.end === 'never' || ageMs < plan.pendingMs + plan.inProgressMs ? 'in_progress' : plan.end;
  }

  return {
    add(request, rule) {
      ordinal += 1;
      const tail = `${request.digest.slice(0, 12)}${ordinal.toString(36).padStart(8, '0')}`;
      const createdAtMs = clock.now();
      const billed = rule.billUsd === undefined ? null : parseAttoUsd(rule.billUsd);
      const plan = planOf(rule, videoMs);
      const job: VideoJobEntry = {
        id: `job-${tail}`,
        generationId: `gen-vid-${Math.floor(createdAtMs / SECOND_MS)}-${tail}`,
        model: request.model.id,
        prompt: request.prompt,
        polls: 0,
        downloads: 0,
        request,
        plan,
        createdAtMs,
        costAtto: billed ?? (plan.end === 'completed' ? request.model.priceAtto(request.video) : 0n),
        billed: false,
      };
      setBounded(jobs, job.id, job, JOBS_KEPT);
      return job;
    },
    find: (id) => jobs.get(id),
    stateOf,
    polled(job) {
      job.polls += 1;
      const state = stateOf(job);
      if (state === 'pending' || state === 'in_progress' || job.billed) return state;
      job.billed = true;
      if (job.costAtto > 0n || state === 'completed') bills.add(billOf(job, state));
      return state;
    },
    list: () =>
      Array.from(jobs.values(), (job) => ({
        id: job.id,
        model: job.model,
        prompt: job.prompt,
        status: stateOf(job),
        polls: job.polls,
        downloads: job.downloads,
        costUsd: formatAttoUsd(job.costAtto),
      })),
  };
}

function planOf({ video = {} }: Rule, videoMs: number): VideoPlan {
  const pendingMs = video.pendingMs ?? Math.floor(videoMs / 4);
  return {
    pendingMs,
    inProgressMs: video.inProgressMs ?? videoMs - Math.floor(videoMs / 4),
    end: video.end ?? 'completed',
    error: video.error ?? 'The simulator was told to fail.',
    costText: video.costText,
    costAfterPolls: video.costAfterPolls ?? 0,
  };
}

const billOf = (job: VideoJobEntry, state: VideoState): Parameters<BillBook['add']>[0] => ({
  generationId: job.generationId,
  model: job.model,
  providerName: 'SimCloud',
  costAtto: job.costAtto,
  use: NO_TOKENS,
  streamed: false,
  cancelled: state === 'cancelled',
  finishReason: state,
  createdAtMs: job.createdAtMs,
  lookupMisses: 0,
});
