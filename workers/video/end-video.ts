import type { Provider } from '#core/catalog/catalog.ts';
import type { Settle } from '#core/ledger/command.ts';
import { type AttoUsd, attoToNanoUp, FACTOR_ONE_PPM, type NanoUsd } from '#core/money.ts';
import type { LossCause } from '#core/operator-losses.ts';
import type { VideoErrorCode } from '#core/videos/video-error-codes.ts';
import type { VideoFile, VideoJob } from '#core/videos/video-job.ts';
import type { Fail } from './next-video-step.ts';

/** How a video ends: settled once, with the same words however often the journal has to be asked. */
export interface Ending {
  settle: Settle;
  errorCode: VideoErrorCode | null;
  /** What the provider took, as far as anybody knows, with the operator's margin. */
  billedNanoUsd: NanoUsd;
  factorPpm: bigint;
  /** Without the margin, which nobody bills. */
  loss: { cause: Extract<LossCause, 'free_failure' | 'price_estimated'>; nanoUsd: NanoUsd } | null;
}

/** Cost × margin, rounded up once. One that nobody told is the estimate; an explicit zero stays zero. */
export function endMade(job: VideoJob, { file, cost, provider, nowMs }: MadeVideo): Ending {
  const factorPpm = factorOf(provider);
  const reported = cost === null ? null : attoToNanoUp(cost, factorPpm);
  return {
    settle: {
      ...settleOf(job, nowMs, null),
      costNanoUsd: reported ?? job.estimatedNanoUsd,
      video: file,
    },
    errorCode: null,
    billedNanoUsd: reported ?? 0n,
    factorPpm,
    loss: reported === null ? { cause: 'price_estimated', nanoUsd: 0n } : null,
  };
}

export interface MadeVideo {
  file: VideoFile;
  cost: AttoUsd | null;
  provider: Provider | undefined;
  nowMs: number;
}

/** Nothing is charged; what the provider bills all the same the operator bears. */
export function endFailed(
  job: VideoJob,
  { code, billed }: Pick<Fail, 'code' | 'billed'>,
  { provider, nowMs }: { provider: Provider | undefined; nowMs: number },
): Ending {
  const known = billed === null || billed === 'unknown' ? 0n : billed;
  const factorPpm = factorOf(provider);
  return {
    settle: settleOf(job, nowMs, code),
    errorCode: code,
    billedNanoUsd: attoToNanoUp(known, factorPpm),
    factorPpm,
    loss: billed === 'unknown' || known > 0n ? { cause: 'free_failure', nanoUsd: attoToNanoUp(known) } : null,
  };
}

function settleOf(
  { agentId, callId, createdAtMs }: VideoJob,
  nowMs: number,
  errorCode: string | null,
): Settle {
  return {
    type: 'settle',
    agentId,
    callId,
    costNanoUsd: 0n,
    cause: 'end',
    end: {
      outcome: errorCode === null ? 'ok' : 'failed',
      httpStatus: null,
      errorCode,
      tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 },
      durationMs: Math.max(0, nowMs - createdAtMs),
    },
  };
}

const factorOf = (provider: Provider | undefined): bigint => provider?.priceFactorPpm ?? FACTOR_ONE_PPM;
