import { executeDurably } from '#core/accounts/execute-durably.ts';
import type { Provider } from '#core/catalog/catalog.ts';
import { parseFileName } from '#core/files/file-name.ts';
import { endFailed } from './end-video.ts';
import { type Fail, retryWaitMs, youngWaitMs } from './next-video-step.ts';
import type { OpenVideo, Owed } from './open-video.ts';
import type { After, VideoParts } from './video-parts.ts';

/** Tells the journal what has happened: asked for the same until it has it, so that no crash of it costs a job or money. */
export async function settleUnconfirmed(parts: VideoParts, video: OpenVideo, owed: Owed): Promise<After> {
  video.owed = owed;
  switch (owed.do) {
    case 'note_job':
      return noteJob(parts, video, owed);
    case 'withdraw':
      return withdraw(parts, video, owed);
    case 'end':
      return end(parts, video, owed);
  }
}

/** Ends a video that has failed. */
export function settleFailed(
  parts: VideoParts,
  video: OpenVideo,
  provider: Provider | undefined,
  failure: Pick<Fail, 'code' | 'billed'>,
): Promise<After> {
  const ending = endFailed(video.job, failure, { provider, nowMs: parts.clock.now() });
  return settleUnconfirmed(parts, video, { do: 'end', ending, booked: null });
}

/** Wait longer each time that the same does not succeed. */
export const again = (video: OpenVideo): After => ({ waitMs: retryWaitMs(video.failures++) });

async function noteJob(
  { ledger, log, clock }: VideoParts,
  video: OpenVideo,
  { nonce, providerJobId }: Extract<Owed, { do: 'note_job' }>,
): Promise<After> {
  const { agentId, callId } = video.job;
  const result = await executeDurably(ledger, {
    type: 'submit_video',
    agentId,
    callId,
    nonce,
    providerJobId,
  });
  if (!result.ok && result.reason === 'unavailable') return again(video);
  if (!result.ok) {
    // Others took this process for dead, or the hold was an orphan: the provider works, and nobody waits for it.
    log.error('a provider has taken a video that has ended meanwhile', {
      agentId,
      callId,
      code: result.reason,
    });
    return 'over';
  }
  video.job = { ...video.job, submitted: { providerJobId, atMs: clock.now() } };
  video.owed = null;
  video.failures = 0;
  return { waitMs: youngWaitMs(0) };
}

async function withdraw(
  { ledger }: VideoParts,
  video: OpenVideo,
  { nonce }: Extract<Owed, { do: 'withdraw' }>,
): Promise<After> {
  const { agentId, callId } = video.job;
  const result = await executeDurably(ledger, { type: 'withdraw_video', agentId, callId, nonce });
  if (!result.ok) return result.reason === 'unavailable' ? again(video) : 'over';
  video.job = { ...video.job, claim: null };
  video.owed = null;
  // Once more, for it was busy: less and less often.
  return again(video);
}

async function end(parts: VideoParts, video: OpenVideo, owed: Extract<Owed, { do: 'end' }>): Promise<After> {
  const { ledger, log, onEnded } = parts;
  const { job } = video;
  const { agentId, callId } = job;
  const { result, durable } = await ledger.execute(owed.ending.settle);
  if (result.ok && !result.repeated) owed.booked = result;
  const isUnavailable = !result.ok && result.reason === 'unavailable';
  if (isUnavailable || (await durable) !== 'durable') return again(video);
  if (owed.booked !== null) onEnded(job, owed.ending, owed.booked);
  if (!result.ok) log.warn('a video had ended before its worker ended it', { agentId, callId });
  await deleteOrder(parts, video);
  return 'over';
}

/** What stays behind is swept with its hour. */
async function deleteOrder({ files, log }: VideoParts, { job }: OpenVideo): Promise<void> {
  const name = parseFileName(job.orderFile);
  if (name === null) return;
  try {
    await files.delete(name);
  } catch (error) {
    log.warn('the order of a video that has ended stays in storage until it is swept', {
      callId: job.callId,
      error,
    });
  }
}
