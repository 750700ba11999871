import type { ApiError } from '../../contract/errors.ts';
import type { Usage } from '../../inference/price/usage.ts';
import type { FaultOf } from '../../inference/upstream/attempt-fault.ts';

/** How the one request to the provider ended. */
export type ImageAttempt = MadeImages | FailedImages;

/** Its images have been taken, or nobody was there to take them. */
export interface MadeImages {
  kind: 'made';
  usage: Usage | null;
  /** Unix seconds, as the provider says. */
  created: number | null;
  delivered: number;
}

export interface FailedImages {
  kind: 'failed';
  error: ApiError;
  /** How far the fault reaches; without it, to all calls of the provider. */
  faultOf?: FaultOf;
  usage: Usage | null;
  delivered: number;
}
