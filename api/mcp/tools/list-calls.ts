import { z } from 'zod';
import { DAY_MS } from '#core/clock.ts';
import { CALLS_KEPT_MS, CALLS_PAGE_DEFAULT, CALLS_PAGE_MAX } from '#core/limits.ts';
import { listCalls as list } from '../../account/list-calls.ts';
import { CallPage, readCallCursor } from '../../contract/call-entry.ts';
import { keyIdInput } from '../key-fields.ts';
import { sentences } from '../sentences.ts';
import { defineTool, readsOnly } from '../tool.ts';

const cursor = z.string().transform((text, ctx) => {
  const callId = readCallCursor(text);
  if (callId !== null) return callId;
  ctx.addIssue('has to be the `next` of an earlier page');
  return z.NEVER;
});

export const listCalls = defineTool({
  name: 'list_calls',
  title: 'List calls',
  description:
    `Calls of the last ${CALLS_KEPT_MS / DAY_MS} days, newest first; running ones too. ` +
    'Tells what each held and cost.',
  input: z.object({
    key_id: keyIdInput().optional().meta({ description: "Only this key's calls." }),
    limit: z.int().min(1).max(CALLS_PAGE_MAX).default(CALLS_PAGE_DEFAULT),
    before: cursor.optional().meta({ description: "The previous page's `next`." }),
  }),
  output: CallPage,
  annotations: readsOnly,
  async run({ account }, { agentId }, { key_id: keyId, limit, before: beforeCallId }) {
    const result = await list(account, { agentId, keyId, limit, beforeCallId });
    if (result.ok) return { ok: true, record: result.page };
    const isUnknown = result.reason === 'unknown_key' && keyId !== undefined;
    return { ok: false, sentence: isUnknown ? sentences.unknownKey(keyId) : sentences.unavailable };
  },
});
