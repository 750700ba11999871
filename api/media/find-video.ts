import type { Ledger, Unavailable } from '#core/ledger/ledger.ts';
import type { VideoHistory } from '#core/videos/video-history.ts';
import type { VideoJob } from '#core/videos/video-job.ts';

export interface VideoBooks {
  ledger: Pick<Ledger, 'readVideo' | 'findVideoByKey'>;
  videos: VideoHistory;
}

type Found = Promise<VideoJob | null | Unavailable>;

/** The ledger first: it alone knows the open ones, and is cheap to ask. */
export async function findVideo({ ledger, videos }: VideoBooks, agentId: number, videoId: string): Found {
  return (await ledger.readVideo(agentId, videoId)) ?? (await videos.find(agentId, videoId));
}

export async function findVideoByKey({ ledger, videos }: VideoBooks, agentId: number, key: string): Found {
  return (await ledger.findVideoByKey(agentId, key)) ?? (await videos.findByKey(agentId, key));
}
