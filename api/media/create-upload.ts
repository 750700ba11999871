import { executeDurably } from '#core/accounts/execute-durably.ts';
import { type Clock, isoTime, SECOND_MS } from '#core/clock.ts';
import { type FileName, hourOf, type ImageType } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { randomBase62 } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { type Limits, RETRY_AFTER_MAX_MS, UPLOAD_LINK_MS, UPLOAD_PUT_MS } from '#core/limits.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { Upload } from '../contract/upload.ts';

export interface UploadDeps {
  ledger: Pick<Ledger, 'execute'>;
  /** `null`: this gateway keeps no files. */
  files: Pick<FileStore, 'putLink' | 'getLink'> | null;
  clock: Clock;
  limits: () => Pick<Limits, 'uploadsPerDay'>;
}

export type CreateUploadResult = { ok: true; upload: Upload } | UploadRefused;

export type UploadRefused =
  | { ok: false; reason: 'agent_inactive' | 'agent_suspended' | 'balance' | 'no_files' | 'unavailable' }
  | { ok: false; reason: 'uploads_per_day'; retryAfterMs: number };

/**
 * Starts an upload: counts it, and makes the two links. What was counted stays counted, whether a file comes or not: the
 * links are out.
 */
export async function createUpload(
  { ledger, files, clock, limits }: UploadDeps,
  { agentId, contentType, size }: { agentId: number; contentType: ImageType; size: number },
): Promise<CreateUploadResult> {
  if (files === null) return { ok: false, reason: 'no_files' };
  const id = `upl_${randomBase62(24)}`;
  const { uploadsPerDay } = limits();
  const started = await executeDurably(ledger, {
    type: 'start_upload',
    agentId,
    uploadId: id,
    limits: { uploadsPerDay },
  });
  if (!started.ok) {
    // Whoever asks has a key of this agent: a ledger that does not know it is behind.
    return started.reason === 'unknown_agent' ? { ok: false, reason: 'unavailable' } : started;
  }
  const nowMs = clock.now() - (clock.now() % SECOND_MS);
  const putUntilMs = nowMs + UPLOAD_PUT_MS;
  const untilMs = nowMs + UPLOAD_LINK_MS;
  const name: FileName = { kind: 'uploads', endHour: hourOf(untilMs), agentId, id, contentType };
  const put = await files.putLink(name, size, putUntilMs);
  return {
    ok: true,
    upload: {
      object: 'upload',
      id,
      upload_url: put.url,
      upload_method: 'PUT',
      upload_headers: put.headers,
      upload_expires_at: isoTime(putUntilMs),
      url: await files.getLink(name, untilMs),
      expires_at: isoTime(untilMs),
      content_type: contentType,
      size,
    },
  };
}

/** As `POST /uploads` says it. The spec shows no codes for this route: these are the ones of the same causes elsewhere. */
export function refuseUpload(refused: UploadRefused, nowMs: number): ApiError {
  switch (refused.reason) {
    case 'agent_inactive':
    case 'agent_suspended':
      return apiError(refused.reason);
    case 'balance':
      return apiError('insufficient_balance', {
        message: 'An upload is free, but it needs an agent with credit, and this one has none left.',
      });
    case 'uploads_per_day':
      return apiError('rate_limited', {
        retryAfterMs: refused.retryAfterMs,
        longWait: refused.retryAfterMs > RETRY_AFTER_MAX_MS,
        message: `This agent has started as many uploads as it may in any 24 hours; the next one may start at ${isoTime(nowMs + refused.retryAfterMs)}.`,
      });
    // Not a wait: clients would ask again and again for what only the operator can add.
    case 'no_files':
      return apiError('not_found', {
        message: 'This gateway keeps no files; send public https links instead of uploads.',
      });
    case 'unavailable':
      return apiError('service_unavailable');
    default:
      return refused satisfies never;
  }
}
