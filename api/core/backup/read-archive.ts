import { createHash } from 'node:crypto';
import { pepperIdOf } from '../accounts/api-key.ts';
import type { CallRecord } from '../calls/call-record.ts';
import { balanceNanoUsd } from '../ledger/machine/lots.ts';
import type { AgentState } from '../ledger/machine/state.ts';
import type { NanoUsd } from '../money.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { type ArchiveEnd, type ArchiveHeader, parseHeader, parseLine } from './archive-lines.ts';
import { BackupError } from './backup-error.ts';
import { readGzipLines } from './gzip-lines.ts';

export interface ArchiveVisitor {
  onAgent?(agent: AgentState): void | Promise<void>;
  /** Of the agent that came last; oldest first. */
  onCall?(call: CallRecord): void | Promise<void>;
  /** The same. */
  onVideo?(job: VideoJob): void | Promise<void>;
}

/** What an archive holds, once all of it was read. */
export interface ArchiveContents {
  header: ArchiveHeader;
  agents: number;
  calls: number;
  /** Keys that were not revoked, and the peppers that these are hashed with. */
  activeKeys: number;
  pepperIds: ReadonlySet<string>;
  /** Free and held. */
  balanceNanoUsd: NanoUsd;
  lastSeq: number;
  lastAtMs: number;
  /** Of all lines: what tells one archive from another. */
  sha256: string;
}

/**
 * Reads a whole archive, one line at a time. Throws `BackupError` on one that is damaged, cut, foreign, or of a newer
 * release: possibly after most of it was visited, so a restore reads it once before it writes anything.
 */
export async function readArchive(file: string, visitor: ArchiveVisitor = {}): Promise<ArchiveContents> {
  const walk = new Walk(visitor);
  let lines = 0;
  try {
    for await (const line of readGzipLines(file)) {
      if (lines === 0) walk.begin(line);
      else await walk.go(line);
      lines++;
    }
  } catch (cause) {
    throw explain(file, lines, cause);
  }
  const contents = walk.contents();
  if (contents === null) throw damaged(file, lines, 'it ends early');
  return contents;
}

/** What was visited failed, not the archive. */
class VisitorError extends Error {}

/** It began like an archive, and goes on like none. */
class NotAnArchiveError extends Error {}

class Walk {
  readonly #visitor: ArchiveVisitor;
  readonly #hash = createHash('sha256');
  readonly #agentIds = new Set<number>();
  readonly #pepperIds = new Set<string>();
  #header: ArchiveHeader | null = null;
  #agent: AgentState | null = null;
  #calls = 0;
  #videos = 0;
  #lastSeq = 0;
  #activeKeys = 0;
  #balanceNanoUsd = 0n;
  #end: ArchiveEnd | null = null;

  constructor(visitor: ArchiveVisitor) {
    this.#visitor = visitor;
  }

  begin(line: Buffer): void {
    this.#header = parseHeader(line.toString());
    if (this.#header === null) throw new NotAnArchiveError();
    this.#hash.update(line).update('\n');
  }

  async go(bytes: Buffer): Promise<void> {
    if (this.#end !== null) throw new Error('it goes on behind its end');
    const line = parseLine(bytes.toString());
    if (line.kind === 'end') {
      this.#finish(line.end);
      return;
    }
    this.#hash.update(bytes).update('\n');
    if (line.kind === 'agent') {
      this.#take(line.agent);
      await visit(() => this.#visitor.onAgent?.(line.agent));
    } else if (line.kind === 'video') {
      if (line.video.agentId !== this.#agent?.agentId) throw new Error('a video is not behind its agent');
      this.#videos += 1;
      await visit(() => this.#visitor.onVideo?.(line.video));
    } else {
      if (line.call.agentId !== this.#agent?.agentId) throw new Error('a call is not behind its agent');
      this.#calls += 1;
      await visit(() => this.#visitor.onCall?.(line.call));
    }
  }

  contents(): ArchiveContents | null {
    if (this.#header === null || this.#end === null) return null;
    return {
      header: this.#header,
      agents: this.#agentIds.size,
      calls: this.#calls,
      activeKeys: this.#activeKeys,
      pepperIds: this.#pepperIds,
      balanceNanoUsd: this.#balanceNanoUsd,
      lastSeq: this.#lastSeq,
      lastAtMs: this.#end.lastAtMs,
      sha256: this.#end.sha256,
    };
  }

  #take(agent: AgentState): void {
    if (this.#agentIds.has(agent.agentId)) throw new Error(`agent ${agent.agentId} stands in it twice`);
    this.#agentIds.add(agent.agentId);
    this.#agent = agent;
    this.#lastSeq += agent.version;
    this.#balanceNanoUsd += balanceNanoUsd(agent);
    for (const { hash, revokedAtMs } of agent.keys.values()) {
      if (revokedAtMs !== null) continue;
      this.#activeKeys += 1;
      this.#pepperIds.add(pepperIdOf(hash));
    }
  }

  #finish(end: ArchiveEnd): void {
    if (this.#hash.digest('base64url') !== end.sha256) throw new Error('the checksum is wrong');
    const isWhole =
      end.agents === this.#agentIds.size &&
      end.calls === this.#calls &&
      end.videos === this.#videos &&
      end.lastSeq === this.#lastSeq;
    if (!isWhole) throw new Error('it does not hold what its end says');
    this.#end = end;
  }
}

async function visit(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new VisitorError('', { cause });
  }
}

function explain(file: string, lines: number, cause: unknown): unknown {
  if (cause instanceof VisitorError) return cause.cause;
  if (cause instanceof BackupError) return new BackupError(`${file}: ${cause.message}`);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT') return new BackupError(`There is no file ${file}.`);
  if (cause instanceof Error && 'syscall' in cause) {
    return new BackupError(`${file} cannot be read (${code}).`);
  }
  const isForeign = cause instanceof NotAnArchiveError || (lines === 0 && code === 'Z_DATA_ERROR');
  if (isForeign) return new BackupError(`${file} is no backup of Faregate.`);
  return damaged(file, lines, cause instanceof Error ? cause.message : String(cause), cause);
}

const damaged = (file: string, lines: number, problem: string, cause?: unknown): BackupError =>
  new BackupError(`${file} is damaged or cut off behind line ${lines}: ${problem}.`, { cause });
