import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { defaultLimits } from '#core/limits.ts';
import type { AccountDeps } from '../../api/account/account-deps.ts';
import type { Upload } from '../../api/contract/upload.ts';
import type { ToolDeps } from '../../api/mcp/tool.ts';
import { createUpload } from '../../api/mcp/tools/create-upload.ts';
import type { CreateUploadResult } from '../../api/media/create-upload.ts';

const upload: Upload = {
  object: 'upload',
  id: 'upl_1',
  upload_url: 'https://files.example/put',
  upload_method: 'PUT',
  upload_headers: { 'Content-Type': 'image/png' },
  upload_expires_at: '2026-11-18T10:00:00.000Z',
  url: 'https://files.example/get',
  expires_at: '2026-11-19T10:00:00.000Z',
  content_type: 'image/png',
  size: 68,
};

async function call(result: CreateUploadResult) {
  const asked: object[] = [];
  const deps: ToolDeps = {
    account: { limits: () => defaultLimits } as AccountDeps,
    async startUpload(of) {
      asked.push(of);
      return result;
    },
    log: { info() {}, warn() {}, error() {} },
  };
  const answer = await createUpload.call(
    deps,
    { agentId: 4, keyId: 9 },
    { content_type: 'image/png', size: 68 },
  );
  expect(asked).toEqual([{ agentId: 4, contentType: 'image/png', size: 68 }]);
  return answer;
}

it('an upload that may begin is answered as its record', async () => {
  expect(await call({ ok: true, upload })).toEqual({
    structuredContent: upload,
    content: [{ type: 'text', text: JSON.stringify(upload) }],
  });
});

const refusals: [CreateUploadResult, string][] = [
  [{ ok: false, reason: 'agent_inactive' }, 'This agent is not active'],
  [{ ok: false, reason: 'agent_suspended' }, 'This agent is not active'],
  [{ ok: false, reason: 'balance' }, 'This agent has no credit'],
  [{ ok: false, reason: 'no_files' }, 'This service keeps no files'],
  [{ ok: false, reason: 'unavailable' }, 'The service could not finish this right now'],
  [
    { ok: false, reason: 'uploads_per_day', retryAfterMs: 2.5 * HOUR_MS },
    'This agent started 200 uploads in the last 24 hours, as many as it may: the next can start in 3 hours.',
  ],
  [
    { ok: false, reason: 'uploads_per_day', retryAfterMs: MINUTE_MS },
    'This agent started 200 uploads in the last 24 hours, as many as it may: the next can start in 1 minute.',
  ],
];
it.each(refusals)('what %j is told begins with %j', async (result, start) => {
  const { isError, content, structuredContent } = await call(result);
  expect([isError, structuredContent]).toEqual([true, undefined]);
  expect(content).toEqual([{ type: 'text', text: expect.stringMatching(new RegExp(`^${start}`)) }]);
});
