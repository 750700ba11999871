import type { CallHistory } from '../calls/call-history.ts';
import type { CallRecord } from '../calls/call-record.ts';
import type { CallId } from '../ids.ts';
import { BackupError } from './backup-error.ts';

const CALLS_AT_ONCE = 1_000;

/**
 * All calls of an agent in portions, oldest first. A history is read newest first, so the walk down only notes where
 * each portion begins. What is written behind it meanwhile is left out, or comes in its place.
 */
export async function* listCalls(
  history: CallHistory,
  agentId: number,
): AsyncGenerator<readonly CallRecord[]> {
  const ranges: { fromCallId: CallId; beforeCallId: CallId }[] = [];
  let beforeCallId = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await readPage(history, agentId, beforeCallId);
    const oldest = page.at(-1);
    if (oldest === undefined) break;
    ranges.push({ fromCallId: oldest.callId, beforeCallId });
    beforeCallId = oldest.callId;
  }
  for (const range of ranges.reverse()) yield readRange(history, agentId, range);
}

/** More than a page, where calls came in between. */
async function readRange(
  history: CallHistory,
  agentId: number,
  range: { fromCallId: CallId; beforeCallId: CallId },
): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  let { beforeCallId } = range;
  while (beforeCallId > range.fromCallId) {
    const page = await readPage(history, agentId, beforeCallId);
    const oldest = page.at(-1);
    if (oldest === undefined) break;
    calls.push(...page.filter(({ callId }) => callId >= range.fromCallId));
    beforeCallId = oldest.callId;
  }
  return calls.reverse();
}

async function readPage(history: CallHistory, agentId: number, beforeCallId: CallId): Promise<CallRecord[]> {
  const page = await history.list({ agentId, limit: CALLS_AT_ONCE, beforeCallId });
  if (page === 'unavailable') throw new BackupError('The history of calls cannot be read.');
  return page;
}
