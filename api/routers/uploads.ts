import { defaultLimits } from '#core/limits.ts';
import { answerOrRefuse } from '../contract/errors.ts';
import { uploadExample } from '../contract/examples.ts';
import { Upload, UploadRequest } from '../contract/upload.ts';
import { keyedProcedure, t } from './trpc.ts';

export const uploadsRouter = t.router({
  create: keyedProcedure({
    method: 'POST',
    path: '/uploads',
    operationId: 'createUpload',
    tag: 'Uploads',
    summary: 'Start an upload',
    description:
      'For images that are on no public server. Three steps: this call, with type and exact size; then `PUT` of ' +
      'exactly these bytes to `upload_url` with `upload_headers`, before `upload_expires_at` and without a key, as in ' +
      '`curl --upload-file image.png -H "Content-Type: image/png" "$UPLOAD_URL"`; then `url`, until `expires_at`, ' +
      'wherever a model call takes the link of an image. Storage refuses any other size, type or method, and a second ' +
      'file. An upload is free, but needs an agent with credit; ' +
      `${defaultLimits.uploadsPerDay} may be started in any 24 hours.`,
    status: 201,
    errors: ['agent_inactive', 'agent_suspended', 'insufficient_balance', 'rate_limited', 'not_found'],
    headers: ['x-service-call-id', 'x-request-id'],
    examples: uploadExample,
  })
    .input(UploadRequest)
    .output(Upload)
    .mutation(async ({ ctx, input }) => answerOrRefuse(await ctx.deps.createUpload(ctx.caller, input))),
});
