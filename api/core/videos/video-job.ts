import type { CallId } from '../ids.ts';
import { VIDEO_KEPT_MS } from '../limits.ts';
import type { NanoUsd } from '../money.ts';

/** A video as the ledger and the history know it: everything but its prompt and images, which stand in its order's file. */
export interface VideoJob {
  /** `vid_` and 20 letters and digits. */
  videoId: string;
  agentId: number;
  keyId: number;
  /** Of its hold: a video is a call, too. */
  callId: CallId;
  /** Of the header `Idempotency-Key`. */
  idempotencyKey: string | null;
  model: string;
  providerId: string;
  /** The model's name at the provider. */
  upstreamModel: string;
  /** Path of the file that says what to send to the provider. */
  orderFile: string;
  estimatedNanoUsd: NanoUsd;
  createdAtMs: number;
  /** Somebody has begun to hand it to the provider: nobody else may, ever, unless the claim is withdrawn. */
  claim: { nonce: string; atMs: number } | null;
  /** The provider has taken it. */
  submitted: { providerJobId: string; atMs: number } | null;
  end: VideoEnd | null;
}

export interface VideoEnd {
  atMs: number;
  chargedNanoUsd: NanoUsd;
  /** `null`: it was made. */
  errorCode: string | null;
  /** `null`: it was not. */
  file: VideoFile | null;
}

/** The result, as it stands in the gateway's own storage. */
export interface VideoFile {
  /** As `formatFileName` writes it. */
  path: string;
  bytes: number;
  /** Lower case, hexadecimal. */
  sha256: string;
  madeAtMs: number;
}

export type VideoStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'expired';

/** Spec: Video job `status`. */
export function videoStatus(
  { submitted, end }: Pick<VideoJob, 'submitted' | 'end'>,
  nowMs: number,
): VideoStatus {
  if (end === null) return submitted === null ? 'pending' : 'in_progress';
  if (end.file === null) return 'failed';
  return nowMs < end.file.madeAtMs + VIDEO_KEPT_MS ? 'completed' : 'expired';
}
