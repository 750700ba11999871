import type { ApiError } from '../../contract/errors.ts';
import type { Usage } from '../../inference/usage.ts';

/** How the one request to the provider ended. */
export type PictureAttempt =
  /** Its pictures have been taken, or nobody was there to take them. */
  | { kind: 'made'; usage: Usage | null; created: number | null; delivered: number }
  | { kind: 'failed'; error: ApiError; usage: Usage | null; delivered: number };
