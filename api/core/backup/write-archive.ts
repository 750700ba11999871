import { createHash } from 'node:crypto';
import type { CallRecord } from '../calls/call-record.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import type { VideoJob } from '../videos/video-job.ts';
import {
  type ArchiveHeader,
  printAgent,
  printCall,
  printEnd,
  printHeader,
  printVideo,
} from './archive-lines.ts';
import { writeGzipLines } from './gzip-lines.ts';

export interface ArchiveSource {
  header: ArchiveHeader;
  entries: AsyncIterable<ArchiveEntry>;
  /** Asked after the last entry. */
  lastAtMs: () => number;
}

export interface ArchiveEntry {
  agent: AgentState;
  /** All its calls, oldest first, in portions. */
  calls: AsyncIterable<readonly CallRecord[]>;
  /** Those that have ended, in portions. */
  videos: AsyncIterable<readonly VideoJob[]>;
}

/** A new file, on the disk when it resolves. Holds one agent and one portion of calls or videos at a time. */
export const writeArchive = (file: string, source: ArchiveSource): Promise<void> =>
  writeGzipLines(file, checkedLines(source));

/** The lines and, behind them, their checksum. */
async function* checkedLines({ header, entries, lastAtMs }: ArchiveSource): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const counts = { agents: 0, calls: 0, videos: 0, lastSeq: 0 };
  for await (const line of linesOf(header, entries, counts)) {
    hash.update(`${line}\n`);
    yield line;
  }
  yield printEnd({ ...counts, lastAtMs: lastAtMs(), sha256: hash.digest('base64url') });
}

async function* linesOf(
  header: ArchiveHeader,
  entries: AsyncIterable<ArchiveEntry>,
  counts: { agents: number; calls: number; videos: number; lastSeq: number },
): AsyncGenerator<string> {
  yield printHeader(header);
  for await (const { agent, calls, videos } of entries) {
    counts.agents += 1;
    counts.lastSeq += agent.version;
    yield printAgent(agent);
    for await (const portion of calls) {
      counts.calls += portion.length;
      for (const call of portion) yield printCall(call);
    }
    for await (const portion of videos) {
      counts.videos += portion.length;
      for (const job of portion) yield printVideo(job);
    }
  }
}
