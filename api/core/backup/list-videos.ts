import type { AgentState } from '../ledger/machine/state.ts';
import { isVideoKept } from '../ledger/machine/video-table.ts';
import { ENDED_VIDEOS_KEPT_MAX } from '../limits.ts';
import type { VideoJob } from '../videos/video-job.ts';

/**
 * An agent's ended videos as they were at the end of the fold that it comes from, though the history may be behind that or
 * ahead: the agent itself knows those of the last day, the history is asked for older ones, and for those of the last day
 * that are more than the agent keeps.
 *
 * @param endedInFold - The videos that ended during the fold, by their ids. A history that is more than a day behind does
 *   not have them yet, and the agent no longer.
 */
export async function* listVideos(
  agent: AgentState,
  history: AsyncIterable<readonly VideoJob[]>,
  endedInFold: ReadonlyMap<string, VideoJob> = new Map(),
): AsyncGenerator<readonly VideoJob[]> {
  const known = new Map([...agent.videos].map((job) => [job.videoId, job]));
  const ended = [...known.values()].filter((job) => job.end !== null && isVideoKept(job, agent.prunedAtMs));
  const oldestMs =
    ended.length < ENDED_VIDEOS_KEPT_MAX
      ? Number.NEGATIVE_INFINITY
      : ended.reduce((oldest, { end }) => Math.min(oldest, end?.atMs ?? oldest), Number.POSITIVE_INFINITY);
  const isForgotten = ({ videoId, end }: VideoJob) =>
    end !== null && end.atMs <= oldestMs && !known.has(videoId);
  const missing = new Map(endedInFold);
  for (const { videoId } of ended) missing.delete(videoId);
  for await (const portion of history) {
    const listed = portion.filter((job) => !isVideoKept(job, agent.prunedAtMs) || isForgotten(job));
    for (const { videoId } of listed) missing.delete(videoId);
    yield listed;
  }
  yield [...ended, ...missing.values()];
}
