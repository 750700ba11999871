import { z } from 'zod';
import { imageTypes } from '#core/files/file-name.ts';
import { UPLOAD_BYTES_MAX } from '#core/limits.ts';
import { wholeNumber } from './request-fields.ts';

/** Spec: MCP server, `create_upload`. */
export const UPLOAD_TYPES = imageTypes;

const contentType = z
  .enum(UPLOAD_TYPES, { error: `one of ${UPLOAD_TYPES.map((type) => `\`${type}\``).join(', ')}` })
  .meta({ description: 'What the file is; the PUT has to say the same.' });

const size = wholeNumber(1, UPLOAD_BYTES_MAX, `a whole number of bytes from 1 to ${UPLOAD_BYTES_MAX}`);

/** Spec: MCP server, `create_upload`. `POST /uploads` takes the same two. */
export const UploadRequest = z
  .strictObject({
    content_type: contentType,
    size: size.meta({ description: 'Exact number of bytes.' }),
  })
  .meta({ id: 'UploadRequest' });

export type UploadRequest = z.infer<typeof UploadRequest>;

/** Spec: Upload record. */
export const Upload = z
  .object({
    object: z.literal('upload'),
    id: z.string().meta({ description: '`upl_` plus characters.' }),
    upload_url: z.url().meta({ description: 'Pre-signed storage address to PUT to. No key is sent there.' }),
    upload_method: z.literal('PUT'),
    upload_headers: z
      .record(z.string(), z.string())
      .meta({ description: 'Headers to send on the PUT, including `Content-Type`.' }),
    upload_expires_at: z.iso.datetime().meta({ description: 'The PUT has to happen before.' }),
    url: z.url().meta({ description: 'Link to send as the image in model calls.' }),
    expires_at: z.iso.datetime().meta({ description: 'When `url` stops working.' }),
    content_type: contentType,
    size: z.int().meta({ description: 'Bytes.' }),
  })
  .meta({ id: 'Upload' });
export type Upload = z.infer<typeof Upload>;
