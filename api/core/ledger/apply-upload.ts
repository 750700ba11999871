import { DAY_MS } from '../clock.ts';
import type { LedgerEventOf } from '../events/ledger-event.ts';
import type { AgentState } from './state.ts';

export function applyUploadStarted(agent: AgentState, event: LedgerEventOf<'upload_started'>): void {
  forgetUploads(agent, event.atMs);
  agent.uploads.set(event.uploadId, event.atMs);
}

/** Those that no longer count. */
export function forgetUploads({ uploads }: AgentState, atMs: number): void {
  for (const [uploadId, startedAtMs] of uploads) {
    if (startedAtMs <= atMs - DAY_MS) uploads.delete(uploadId);
  }
}
