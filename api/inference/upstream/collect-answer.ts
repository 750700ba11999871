import { joinBuffers } from '../json/join-buffers.ts';
import type { AnswerReceiver, UpstreamFailure, UpstreamRequest } from './upstream-request.ts';

export type Collected =
  | { ok: true; bytes: Buffer }
  | { ok: false; cause: UpstreamFailure | 'too_large'; bytesRead: number };

/** The whole body of an answer, or why there is none. Beyond `bytesMax` it is read no further. */
export function collectAnswer(
  upstream: Pick<UpstreamRequest, 'takeWhole' | 'pipeTo' | 'abort'>,
  bytesMax: number,
): Collected | Promise<Collected> {
  const whole = upstream.takeWhole(bytesMax);
  if (whole !== null) return { ok: true, bytes: whole };
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const sink: AnswerReceiver = {
      data(chunk) {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= bytesMax) return;
        chunks.length = 0;
        resolve({ ok: false, cause: 'too_large', bytesRead: length });
        upstream.abort();
      },
      end: () => resolve({ ok: true, bytes: joinBuffers(chunks) }),
      fail: (cause) => resolve({ ok: false, cause, bytesRead: length }),
    };
    upstream.pipeTo(sink);
  });
}
