import { z } from 'zod';
import type { CallRecord } from '../calls/call-record.ts';
import { callFacts, tokenCounts } from '../events/ledger-event.ts';
import { deserializeAgent, serializeAgent } from '../ledger/machine/agent-snapshot.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import { parseJson } from '../parse-json.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { parseVideoJob, printVideoJob, videoJobJson } from '../videos/video-job-json.ts';
import { BackupError } from './backup-error.ts';

/**
 * An archive is gzip of lines of JSON: the header, then each agent followed by its calls, oldest first, and its ended videos, then the end,
 * with the counts and a checksum over all lines before it. A release reads what it and the release before it wrote: one
 * without videos.
 */
const ARCHIVE_VERSION = 2;

const time = z.int().nonnegative();
const count = z.int().nonnegative();
const nano = z.string().regex(/^\d{1,20}$/);

const archivedPepper = z.strictObject({
  id: z.string(),
  /** Tells whether a secret of this id is the one, without giving it away. */
  fingerprint: z.string(),
  /** Base64; `null` in a cluster, where it is the operator's Secret. */
  secret: z.string().nullable(),
});
export type ArchivedPepper = z.infer<typeof archivedPepper>;

const headerLine = z.strictObject({
  faregate: z.literal('backup'),
  v: z.literal([1, ARCHIVE_VERSION]),
  madeAtMs: time,
  shape: z.enum(['embedded', 'cluster']),
  /** What keys are hashed with. */
  peppers: z.array(archivedPepper),
});
export type ArchiveHeader = Omit<z.infer<typeof headerLine>, 'faregate' | 'v'>;

const endLine = z.strictObject({
  end: z.strictObject({
    agents: count,
    calls: count,
    videos: count.default(0),
    /** Sum of the agents' versions: as many events made them. */
    lastSeq: count,
    /** The ledger's time: no later event has an earlier one. */
    lastAtMs: time,
    sha256: z.string(),
  }),
});
export type ArchiveEnd = z.infer<typeof endLine>['end'];

const callLine = z.strictObject({
  call: z.strictObject({
    callId: z.int().nonnegative(),
    agentId: z.int().nonnegative(),
    startedAtMs: time,
    durationMs: z.int().nonnegative(),
    key: z.strictObject({ keyId: z.int().nonnegative(), label: z.string(), prefix: z.string() }),
    call: callFacts,
    outcome: z.enum(['pending', 'ok', 'stopped', 'failed']),
    httpStatus: z.int().nullable(),
    errorCode: z.string().nullable(),
    tokens: tokenCounts,
    reservedNanoUsd: nano,
    chargedNanoUsd: nano,
  }),
});

const videoLine = z.strictObject({ video: videoJobJson });

export type ArchiveLine =
  | { kind: 'agent'; agent: AgentState }
  | { kind: 'call'; call: CallRecord }
  | { kind: 'video'; video: VideoJob }
  | { kind: 'end'; end: ArchiveEnd };

const AGENT_START = '{"agent":';
const CALL_START = '{"call":';
const VIDEO_START = '{"video":';

export const printHeader = (header: ArchiveHeader): string =>
  JSON.stringify({ faregate: 'backup', v: ARCHIVE_VERSION, ...header });

export const printAgent = (agent: AgentState): string => `${AGENT_START}${serializeAgent(agent)}}`;

export const printCall = (call: CallRecord): string =>
  JSON.stringify({
    call: {
      ...call,
      reservedNanoUsd: String(call.reservedNanoUsd),
      chargedNanoUsd: String(call.chargedNanoUsd),
    },
  });

export const printVideo = (job: VideoJob): string => JSON.stringify({ video: printVideoJob(job) });

export const printEnd = (end: ArchiveEnd): string => JSON.stringify({ end });

/** `null`: no release of Faregate wrote it. Throws `BackupError` when a newer one did. */
export function parseHeader(text: string): ArchiveHeader | null {
  const value = parseJson(text);
  const anyVersion = z.looseObject({ faregate: z.literal('backup'), v: z.int() }).safeParse(value);
  if (!anyVersion.success) return null;
  const { v } = anyVersion.data;
  if (v > ARCHIVE_VERSION) {
    throw new BackupError(
      `It was made by a newer release: its format is ${v}, and this release reads ${ARCHIVE_VERSION}. ` +
        'Restore it with the release that made it, or a later one.',
    );
  }
  const header = headerLine.safeParse(value);
  return header.success ? header.data : null;
}

/** Throws on anything that cannot have been printed here. */
export function parseLine(text: string): ArchiveLine {
  if (text.startsWith(AGENT_START)) {
    return { kind: 'agent', agent: deserializeAgent(text.slice(AGENT_START.length, -1)) };
  }
  if (text.startsWith(VIDEO_START)) {
    return { kind: 'video', video: parseVideoJob(videoLine.parse(JSON.parse(text)).video) };
  }
  if (!text.startsWith(CALL_START)) return { kind: 'end', ...endLine.parse(JSON.parse(text)) };
  const { call } = callLine.parse(JSON.parse(text));
  const { reservedNanoUsd, chargedNanoUsd } = call;
  return {
    kind: 'call',
    call: { ...call, reservedNanoUsd: BigInt(reservedNanoUsd), chargedNanoUsd: BigInt(chargedNanoUsd) },
  };
}
