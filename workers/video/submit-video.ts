import { randomBytes } from 'node:crypto';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import type { Provider } from '#core/catalog/catalog.ts';
import { parseFileName } from '#core/files/file-name.ts';
import { BREAKER_COOLDOWN_MS, MEGABYTE } from '#core/limits.ts';
import type { Ticket } from '#core/provider-health/circuit-breaker.ts';
import type { CallEvidence } from '#core/provider-health/provider-health.ts';
import { afterSubmission, isSubmissionLate } from './next-video-step.ts';
import type { OpenVideo } from './open-video.ts';
import type { ProviderAnswer } from './read-job-answer.ts';
import { again, settleFailed, settleUnconfirmed } from './settle-unconfirmed.ts';
import type { After, VideoParts } from './video-parts.ts';

/** The largest order file: its images in base64 and the text around them. */
export const VIDEO_ORDER_BYTES_MAX = 64 * MEGABYTE;
/** An order above this size contains images. */
export const VIDEO_LARGE_ORDER_BYTES = MEGABYTE;

/** An order in memory is as large as its images: of large ones few are at one time. */
export async function submitInTurn(parts: VideoParts, video: OpenVideo): Promise<After> {
  const { turns } = parts;
  const submit = () => turns.submit(video.job.providerId)(() => submitVideo(parts, video));
  return (await isLarge(parts, video)) ? turns.submitLarge(submit) : submit();
}

/** Claim, one request, its answer into the journal. The order is read first: who has claimed has only to send it. */
async function submitVideo(parts: VideoParts, video: OpenVideo): Promise<After> {
  const { catalog, closing, clock } = parts;
  const { job } = video;
  if (closing.aborted) return again(video);
  const provider = catalog.provider(job.providerId);
  if (provider === undefined || provider.stopped) return again(video);
  const order = await readOrder(parts, video);
  if (order === 'unavailable' && !isSubmissionLate(clock.now() - job.createdAtMs)) return again(video);
  if (order === 'unavailable' || order === null) {
    return settleFailed(parts, video, provider, { code: 'gateway_error', billed: null });
  }
  // The end may have begun while the order was read: what is sent now would be cut before its answer.
  if (closing.aborted) return again(video);
  const wait = parts.health.waitFor(provider);
  if (wait !== null) return { waitMs: wait.waitMs };
  const ticket = parts.health.begin(provider);
  const unclaimed = await claim(parts, video);
  if (unclaimed === null) return send(parts, video, provider, { order, ticket });
  parts.health.note(provider, ticket, { kind: 'nothing' });
  return unclaimed;
}

/** `null`: the journal says that this process may send it, and nobody else. */
async function claim({ ledger }: VideoParts, video: OpenVideo): Promise<After | null> {
  const { agentId, callId } = video.job;
  video.unsent ??= randomBytes(16).toString('hex');
  const nonce = video.unsent;
  const result = await executeDurably(ledger, { type: 'claim_video', agentId, callId, nonce });
  if (result.ok) return null;
  // Another process has it, or it has ended: the next look at the ledger tells.
  return result.reason === 'unavailable' ? again(video) : 'over';
}

/** From here on nothing sends it again that does not know that it was refused. */
async function send(
  parts: VideoParts,
  video: OpenVideo,
  provider: Provider,
  { order, ticket }: { order: Buffer; ticket: Ticket },
): Promise<After> {
  const nonce = video.unsent ?? '';
  video.unsent = null;
  const answer = await parts.videos.submit(provider, order);
  parts.health.note(provider, ticket, evidenceOf(answer));
  const next = afterSubmission(answer);
  if (next.do !== 'fail') return settleUnconfirmed(parts, video, { ...next, nonce });
  if (next.code === 'provider_unavailable') {
    parts.log.warn('a provider refuses our orders of videos: check its key, account and address', {
      callId: video.job.callId,
      model: video.job.model,
    });
  }
  return settleFailed(parts, video, provider, next);
}

/** An order that is refused for our key's sake, or never sent, keeps the others from being sent for a while. */
function evidenceOf(answer: ProviderAnswer): CallEvidence {
  if (answer.kind === 'not_sent') return { kind: 'unconnected' };
  if (answer.kind === 'lost') return { kind: 'nothing' };
  switch (answer.status) {
    case 401:
      return { kind: 'key_refused' };
    case 402:
      return { kind: 'unpaid' };
    case 429:
      return { kind: 'rate_limited', waitMs: BREAKER_COOLDOWN_MS };
    default:
      return { kind: answer.status < 300 ? 'accepted' : 'connected' };
  }
}

/** What storage does not say now shows when the order is read. */
async function isLarge({ files }: VideoParts, { job }: OpenVideo): Promise<boolean> {
  const name = parseFileName(job.orderFile);
  const bytes = name === null ? null : await files.size(name).catch(() => null);
  return bytes !== null && bytes > VIDEO_LARGE_ORDER_BYTES;
}

async function readOrder(
  { files, log }: VideoParts,
  { job }: OpenVideo,
): Promise<Buffer | null | 'unavailable'> {
  const name = parseFileName(job.orderFile);
  if (name === null) return null;
  try {
    return await files.read(name, VIDEO_ORDER_BYTES_MAX);
  } catch (error) {
    log.warn('the order of a video cannot be read, it is tried again', { callId: job.callId, error });
    return 'unavailable';
  }
}
