import { describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { videoErrorCodes } from '#core/videos/video-error-codes.ts';
import {
  afterDownload,
  afterPoll,
  afterSubmission,
  nextVideoStep,
} from '../../workers/video/next-video-step.ts';
import { type ProviderAnswer, readJobAnswer } from '../../workers/video/read-job-answer.ts';

const answered = (status: number, body: unknown = {}): ProviderAnswer => ({
  kind: 'answered',
  status,
  body,
  retryAfter: false,
});
const young = { ageMs: MINUTE_MS, working: 9, unclear: 0, missing: 0, costless: 0 };

describe('by what the journal says', () => {
  const claim = { nonce: 'n', atMs: 0 };
  const submitted = { providerJobId: 'j', atMs: 0 };
  const now = { nowMs: MINUTE_MS, claimKnownMs: 0, claimGraceMs: 0 };
  test.each([
    ['new', { claim: null, submitted: null }, now, { do: 'submit' }],
    [
      'claimed by a dead process',
      { claim, submitted: null },
      now,
      { do: 'fail', code: 'submission_unknown' },
    ],
    [
      'claimed by another process',
      { claim, submitted: null },
      { ...now, claimKnownMs: 1, claimGraceMs: 2 },
      { do: 'await_claim' },
    ],
    ['submitted', { claim, submitted }, now, { do: 'poll', providerJobId: 'j' }],
    ['submitted long ago', { claim, submitted }, { ...now, nowMs: 9 * HOUR_MS }, { do: 'poll' }],
    [
      'never taken',
      { claim: null, submitted: null },
      { ...now, nowMs: 15 * MINUTE_MS },
      { do: 'fail', code: 'provider_unavailable' },
    ],
  ])('%s', (_, job, at, step) => {
    expect(nextVideoStep({ createdAtMs: 0, ...job }, at)).toMatchObject(step);
  });
});

describe('by every state of a provider’s job', () => {
  const job = (status: unknown, more: object = {}) => answered(200, { id: 'j', status, ...more });
  test.each<[string, ProviderAnswer, object, object?]>([
    ['pending', job('pending'), { do: 'wait', waitMs: 10 * SECOND_MS }],
    ['in_progress', job('in_progress'), { do: 'wait', waitMs: 10 * SECOND_MS }],
    ['a young one', job('in_progress'), { do: 'wait', waitMs: SECOND_MS }, { working: 0 }],
    ['an unknown word', job('dreaming'), { do: 'wait' }],
    ['an unknown word for hours', job('dreaming'), { do: 'fail', code: 'timed_out' }, { ageMs: 4 * HOUR_MS }],
    ['in_progress for hours', job('in_progress'), { do: 'fail', code: 'timed_out' }, { ageMs: 4 * HOUR_MS }],
    ['completed', job('completed', { usage: { cost: 1 } }), { do: 'download', cost: 10n ** 18n }],
    [
      'completed at last',
      job('completed', { usage: { cost: 1 } }),
      { do: 'download' },
      { ageMs: 4.5 * HOUR_MS },
    ],
    ['completed without cost', job('completed'), { do: 'wait', waitMs: SECOND_MS }],
    ['completed, its cost never comes', job('completed'), { do: 'download', cost: null }, { costless: 3 }],
    ['failed', job('failed'), { do: 'fail', code: 'generation_failed', billed: null }],
    ['failed by policy', job('failed', { error: 'safety system' }), { do: 'fail', code: 'content_refused' }],
    ['failed and billed', job('failed', { usage: { cost: 1 } }), { do: 'fail', billed: 10n ** 18n }],
    ['cancelled', job('cancelled'), { do: 'fail', code: 'generation_failed' }],
    ['expired', job('expired'), { do: 'fail', code: 'timed_out' }],
    ['no status', job(undefined), { do: 'wait', waitMs: 10 * SECOND_MS }],
    ['another’s job', answered(200, { id: 'k', status: 'completed' }), { do: 'wait' }],
    ['missing', answered(404), { do: 'wait', waitMs: 2 * SECOND_MS }],
    ['missing for long', answered(404), { do: 'fail', code: 'result_unavailable' }, { missing: 9 }],
    ['an error', answered(500), { do: 'wait', waitMs: 10 * SECOND_MS }],
    ['errors in a row', answered(500), { do: 'wait', waitMs: MINUTE_MS }, { unclear: 9 }],
    ['errors for hours', answered(500), { do: 'fail', code: 'timed_out' }, { ageMs: 4 * HOUR_MS }],
    ['no answer', { kind: 'lost' }, { do: 'wait' }],
    ['no connection', { kind: 'not_sent' }, { do: 'wait' }],
  ])('%s', (_, answer, step, state = {}) => {
    expect(afterPoll(readJobAnswer(answer, 'j'), { ...young, ...state })).toMatchObject(step);
  });
});

test('no answer to an order, whatever its status, is taken for leave to send it again, but for three', () => {
  const again = Array.from({ length: 500 }, (_, i) => i + 100).filter(
    (status) => afterSubmission(answered(status)).do === 'withdraw',
  );
  expect(again).toEqual([429]);
  expect(afterSubmission(answered(503, { error: {} }))).toEqual({ do: 'withdraw' });
  expect(afterSubmission({ ...answered(503), retryAfter: true } as ProviderAnswer)).toEqual({
    do: 'withdraw',
  });
  expect(afterSubmission({ kind: 'not_sent' })).toEqual({ do: 'withdraw' });
  expect(afterSubmission({ kind: 'lost' })).toMatchObject({ code: 'submission_unknown' });
});

test('a job is noted only by a name that is fit for a path', () => {
  const noted = (id: unknown) => afterSubmission(answered(202, { id })).do === 'note_job';
  expect(['a', 'gen-1', 'vgen_x.1:2'].every(noted)).toBe(true);
  expect(['', '.', '..', '../x', 'a/b', 'a b', 'a\n', 'ä', 'x'.repeat(257), 7, null].some(noted)).toBe(false);
});

test('what could not be fetched or stored is tried again, but not past the hold', () => {
  const at = { ageMs: MINUTE_MS, failures: 0, cost: 5n };
  const late = { ...at, ageMs: 5 * HOUR_MS };
  expect(afterDownload('storage_failed', { ...at, failures: 1_000 })).toEqual({ do: 'try_again' });
  expect(afterDownload('storage_failed', late)).toMatchObject({ code: 'gateway_error', billed: 5n });
  expect(afterDownload('source_failed', at)).toEqual({ do: 'try_again' });
  expect(afterDownload('source_failed', late)).toMatchObject({ code: 'result_unavailable' });
  expect(afterDownload('gone', { ...at, failures: 19 })).toMatchObject({ code: 'result_unavailable' });
  expect(afterDownload('unfit', at)).toMatchObject({ code: 'result_unavailable', billed: 5n });
});

test('every code has its words', () => {
  for (const words of Object.values(videoErrorCodes)) expect(words).toMatch(/^[A-Z].{20,}\.$/);
});
