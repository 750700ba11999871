import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, startOfDayMs } from '#core/clock.ts';
import { formatFileName } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { defaultLimits } from '#core/limits.ts';
import {
  createUpload,
  refuseUpload,
  type UploadDeps,
  type UploadRefused,
} from '../../api/media/create-upload.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';

const AGENT = 7;
const wanted = { agentId: AGENT, contentType: 'image/png', size: 5 } as const;

/** Links that say what they were made for. */
const files: Pick<FileStore, 'putLink' | 'getLink'> = {
  putLink: async (name, bytes, untilMs) => ({
    url: `https://files/${formatFileName(name)}?put=${bytes}&until=${untilMs}`,
    headers: { 'Content-Type': name.contentType },
  }),
  getLink: async (name, untilMs) => `https://files/${formatFileName(name)}?until=${untilMs}`,
};

async function start() {
  const clock = createFakeClock(Date.UTC(2026, 10, 23, 10, 30, 15, 678));
  const ledger = createMemoryLedger({ clock });
  const grant = (day: number) =>
    ledger.execute({
      type: 'grant',
      agentId: AGENT,
      grantId: `grant-${day}`,
      expiresAtMs: startOfDayMs(clock.now()) + 8 * DAY_MS,
      nanoUsd: 1n,
    });
  await grant(1);
  await ledger.execute({
    type: 'set_agent',
    agentId: AGENT,
    mode: 'upsert',
    source: 'test',
    sourceVersion: 1,
    status: 'active',
    name: 'agent',
    token: null,
  });
  const deps: UploadDeps = { ledger, files, clock, limits: () => defaultLimits };
  return { clock, ledger, deps };
}

test('a link to send lives an hour and one to read a day, both to the second', async () => {
  const { deps } = await start();
  const made = await createUpload(deps, wanted);
  if (!made.ok) throw new Error(made.reason);
  const { id, ...upload } = made.upload;
  const path = `https://files/uploads/20261124T10/7/${id}.png`;
  expect(id).toMatch(/^upl_[0-9A-Za-z]{24}$/);
  expect(upload).toEqual({
    object: 'upload',
    upload_url: `${path}?put=5&until=${Date.UTC(2026, 10, 23, 11, 30, 15)}`,
    upload_method: 'PUT',
    upload_headers: { 'Content-Type': 'image/png' },
    upload_expires_at: '2026-11-23T11:30:15.000Z',
    url: `${path}?until=${Date.UTC(2026, 10, 24, 10, 30, 15)}`,
    expires_at: '2026-11-24T10:30:15.000Z',
    content_type: 'image/png',
    size: 5,
  });
});

test('200 may be started in any 24 hours', async () => {
  const { clock, deps } = await start();
  for (let n = 0; n < 200; n++) {
    expect((await createUpload(deps, wanted)).ok).toBe(true);
    if (n === 99) clock.advance(HOUR_MS);
  }
  const refused = await createUpload(deps, wanted);
  expect(refused).toEqual({ ok: false, reason: 'uploads_per_day', retryAfterMs: 23 * HOUR_MS });
  if (refused.ok) return;
  const error = refuseUpload(refused, clock.now());
  expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 23 * HOUR_MS, shouldRetry: false });
  expect(error.message).toContain('2026-11-24T10:30:15.678Z');
  clock.advance(23 * HOUR_MS);
  for (let n = 0; n < 100; n++) expect((await createUpload(deps, wanted)).ok).toBe(true);
  expect((await createUpload(deps, wanted)).ok).toBe(false);
});

test('a ledger that cannot answer, or does not know the agent of a key, is no fault of the caller', async () => {
  const { deps, ledger } = await start();
  const unavailable = { ok: false, reason: 'unavailable' };
  expect(await createUpload(deps, { ...wanted, agentId: 8 })).toEqual(unavailable);
  await ledger.close();
  expect(await createUpload(deps, wanted)).toEqual(unavailable);
});

test('where no files are kept nothing is counted', async () => {
  const { deps, ledger } = await start();
  const events = ledger.journal.length;
  expect(await createUpload({ ...deps, files: null }, wanted)).toEqual({ ok: false, reason: 'no_files' });
  expect(ledger.journal).toHaveLength(events);
});

test.each<[UploadRefused['reason'], string]>([
  ['agent_inactive', 'agent_inactive'],
  ['agent_suspended', 'agent_suspended'],
  ['balance', 'insufficient_balance'],
  ['uploads_per_day', 'rate_limited'],
  ['no_files', 'not_found'],
  ['unavailable', 'service_unavailable'],
])('a refusal because of %s is told as %s', (reason, code) => {
  const refused: UploadRefused =
    reason === 'uploads_per_day' ? { ok: false, reason, retryAfterMs: 5 } : { ok: false, reason };
  expect(refuseUpload(refused, 0).code).toBe(code);
});
