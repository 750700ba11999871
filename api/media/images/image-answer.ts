import { SECOND_MS } from '#core/clock.ts';
import { formatUsd } from '#core/money.ts';
import { errorBody } from '../../contract/error-body.ts';
import type { ApiError } from '../../contract/errors.ts';
import { answerHeaders, EVENT_STREAM } from '../../inference/hold/answer-headers.ts';
import type { ImageCall } from './image-call.ts';
import type { ImageTotals } from './image-output.ts';

/** The members of an answer behind its images. The cost stands as exact text: a float would lose nano-dollars. */
export function answerTail({ options }: ImageCall, { created, tokens, cost }: ImageTotals): string {
  // Some providers write 0.
  const createdAtS = created ?? Math.floor(options.startedAtMs / SECOND_MS);
  const { prompt, completion } = tokens;
  const counts = `"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion}`;
  return `"created":${createdAtS},"usage":{${counts},"cost":${cost === null ? 'null' : formatUsd(cost)}}`;
}

/** The last events of a stream that has its image. */
export function completedEvent(call: ImageCall, image: object, totals: ImageTotals): void {
  if (!call.caller.committed) call.caller.begin(answerHeaders(call, EVENT_STREAM));
  const members = JSON.stringify({ type: 'image_generation.completed', ...image }).slice(1, -1);
  call.caller.end(Buffer.from(`data: {${members},${answerTail(call, totals)}}\n\n${DONE}`));
}

/** The last events of one that failed when it had begun. */
export const errorEvents = (error: ApiError): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ type: 'error', ...errorBody(error, 'chat') })}\n\n${DONE}`);

const DONE = 'data: [DONE]\n\n';
