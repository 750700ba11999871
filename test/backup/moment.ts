import type { UsageRow } from '#core/calls/call-history.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { projectCall } from '#core/calls/project-call.ts';
import { isoTime, startOfDayMs } from '#core/clock.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { apply } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import { endedVideo } from '#core/ledger/machine/video.ts';
import type { VideoJob } from '#core/videos/video-job.ts';

/** What the first events of a ledger came to, by the state machine alone. */
export interface Moment {
  state: LedgerState;
  lastAtMs: number;
  /** The time that a cluster remembers. */
  lastStartAtMs: number;
  /** Oldest first, of one agent. */
  callsOf(agentId: number): CallRecord[];
  usageOf(agentId: number): UsageRow[];
  /** That have ended, in the order of their ids. */
  videosOf(agentId: number): VideoJob[];
}

export function momentAfter(events: readonly LedgerEvent[], count: number): Moment {
  const state = emptyLedger();
  const calls = new Map<string, CallRecord>();
  const videos = new Map<string, VideoJob>();
  let lastAtMs = 0;
  let lastStartAtMs = 0;
  for (const event of events.slice(0, count)) {
    const call = projectCall(state, event);
    if (call !== null) calls.set(`${call.agentId} ${call.callId}`, call);
    const video = event.type === 'settled' ? endedVideo(state.agents.get(event.agentId), event) : null;
    if (video !== null) videos.set(`${video.agentId} ${video.videoId}`, video);
    apply(state, event);
    lastAtMs = Math.max(lastAtMs, event.atMs);
    if (event.type === 'reserved') lastStartAtMs = Math.max(lastStartAtMs, event.atMs);
  }
  const callsOf = (agentId: number) =>
    [...calls.values()].filter((call) => call.agentId === agentId).sort((a, b) => a.callId - b.callId);
  const videosOf = (agentId: number) =>
    [...videos.values()]
      .filter((job) => job.agentId === agentId)
      .sort((a, b) => (a.videoId < b.videoId ? -1 : 1));
  return {
    state,
    lastAtMs,
    lastStartAtMs,
    callsOf,
    usageOf: (agentId) => usageOf(callsOf(agentId)),
    videosOf,
  };
}

/** Covers every call of a test. */
export const ALL_DAYS = { fromDay: '2025-01-01', toDay: '2030-01-01' };

function usageOf(calls: readonly CallRecord[]): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { startedAtMs, call, outcome, tokens, chargedNanoUsd } of calls) {
    if (outcome === 'pending') continue;
    const day = isoTime(startOfDayMs(startedAtMs)).slice(0, 10);
    const { model, modelName } = call;
    const row = rows.get(`${day} ${model}`) ?? {
      day,
      model,
      modelName,
      calls: 0,
      tokens: 0,
      chargedNanoUsd: 0n,
    };
    row.modelName = modelName;
    row.calls += 1;
    row.tokens += tokens.prompt + tokens.completion;
    row.chargedNanoUsd += chargedNanoUsd;
    rows.set(`${day} ${model}`, row);
  }
  return [...rows.values()].sort((a, b) => a.day.localeCompare(b.day) || a.model.localeCompare(b.model));
}
