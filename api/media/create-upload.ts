import { executeDurably } from '#core/accounts/execute-durably.ts';
import { type Clock, isoTime, SECOND_MS } from '#core/clock.ts';
import { type FileName, hourOf, type ImageType } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { randomBase62 } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { type Limits, UPLOAD_LINK_MS, UPLOAD_PUT_MS } from '#core/limits.ts';
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
