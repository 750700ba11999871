import { parseFileName } from '#core/files/file-name.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { retryWaitMs, youngWaitMs } from './next-video-step.ts';
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

/** `null`: the journal does not have it, ask again. */
export async function executeDurably<C extends Command>(
  ledger: Pick<Ledger, 'execute'>,
  command: C,
): Promise<ResultOf<C> | null> {
  const { result, durable } = await ledger.execute(command);
  if (!result.ok && result.reason === 'unavailable') return null;
  // A refusal, too, may rest on what the journal does not have.
  return (await durable) === 'durable' ? (result as ResultOf<C>) : null;
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
  if (result === null) return again(video);
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
  if (result === null) return again(video);
  if (!result.ok) return 'over';
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
