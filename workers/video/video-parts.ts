import type { Catalog } from '#core/catalog/catalog.ts';
import type { Clock } from '#core/clock.ts';
import type { FileStore } from '#core/files/file-store.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import type { ProviderHealth } from '#core/provider-health/provider-health.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import type { Deadlines } from './deadlines.ts';
import type { Ending } from './end-video.ts';
import type { Booked } from './open-video.ts';
import type { VideoProvider } from './video-provider.ts';

/** What every step of a video works with. */
export interface VideoParts {
  ledger: Pick<Ledger, 'execute'>;
  catalog: Pick<Catalog, 'provider'>;
  files: Pick<FileStore, 'read' | 'write' | 'delete' | 'size'>;
  videos: VideoProvider;
  /** Which providers and keys get no orders now. */
  health: ProviderHealth;
  clock: Clock;
  log: Log;
  deadlines: Deadlines;
  turns: Turns;
  /** Somebody else's claim without a job is believed so long; 0 where there is nobody else. */
  claimGraceMs: number;
  /** The process is about to end. */
  closing: AbortSignal;
  /** The journal has this end, and has it from this process. */
  onEnded: (job: VideoJob, ending: Ending, booked: Booked) => void;
}

/** So many at once; the others wait. */
export interface Turns {
  submit(providerId: string): Turn;
  /** Of all providers. */
  submitLarge: Turn;
  poll(providerId: string): Turn;
  download: Turn;
}
type Turn = <T>(task: () => Promise<T>) => Promise<T>;

/** How a video goes on: after so long, or not at all. */
export type After = { waitMs: number } | 'over';
