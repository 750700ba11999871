import type { AgentState } from '../ledger/state.ts';
import { isVideoKept } from '../ledger/video-table.ts';
import type { VideoJob } from '../videos/video-job.ts';

/**
 * An agent's ended videos as they were at the end of the fold that it comes from, though the history may be behind that or
 * ahead: the agent itself knows those of the last day, the history is asked for older ones.
 */
export async function* listVideos(
  agent: AgentState,
  history: AsyncIterable<readonly VideoJob[]>,
): AsyncGenerator<readonly VideoJob[]> {
  for await (const portion of history) yield portion.filter((job) => !isVideoKept(job, agent.prunedAtMs));
  yield [...agent.videos].filter((job) => job.end !== null && isVideoKept(job, agent.prunedAtMs));
}
