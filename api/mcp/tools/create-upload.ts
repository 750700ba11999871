import { z } from 'zod';
import { UPLOAD_BYTES_MAX } from '#core/limits.ts';
import { UPLOAD_TYPES, Upload } from '../../contract/upload.ts';
import type { CreateUploadResult } from '../../media/create-upload.ts';
import { sentences } from '../sentences.ts';
import { defineTool, writes } from '../tool.ts';

export const createUpload = defineTool({
  name: 'create_upload',
  title: 'Start an upload',
  description:
    'For an image that models are to read: PUT exactly `size` bytes to `upload_url` with `upload_headers`, then send `url` as the image in model calls.',
  input: z.object({
    content_type: z.enum(UPLOAD_TYPES),
    size: z.int().min(1).max(UPLOAD_BYTES_MAX).meta({ description: 'Exact bytes.' }),
  }),
  output: Upload,
  annotations: writes,
  async run({ account, startUpload }, { agentId }, { content_type: contentType, size }) {
    const result = await startUpload({ agentId, contentType, size });
    if (result.ok) return { ok: true, record: result.upload };
    return { ok: false, sentence: sentenceOf(result, account.limits().uploadsPerDay) };
  },
});

function sentenceOf(result: Extract<CreateUploadResult, { ok: false }>, uploadsPerDay: number): string {
  switch (result.reason) {
    case 'agent_inactive':
    case 'agent_suspended':
      return sentences.noUploadsWhileInactive;
    case 'balance':
      return sentences.noCredit;
    case 'no_files':
      return sentences.noFiles;
    case 'uploads_per_day':
      return sentences.tooManyUploads(uploadsPerDay, result.retryAfterMs);
    case 'unavailable':
      return sentences.unavailable;
    default:
      return result satisfies never;
  }
}
