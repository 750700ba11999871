import type { AnswerSink, UpstreamFailure, UpstreamRequest } from './upstream-request.ts';

export type Collected = { ok: true; bytes: Buffer } | { ok: false; cause: UpstreamFailure | 'too_large' };

/** The whole body of an answer, or why there is none. Beyond `bytesMax` it is read no further. */
export function collectAnswer(upstream: UpstreamRequest, bytesMax: number): Promise<Collected> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const sink: AnswerSink = {
      data(chunk) {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= bytesMax) return;
        chunks.length = 0;
        resolve({ ok: false, cause: 'too_large' });
        upstream.abort();
      },
      end: () =>
        resolve({ ok: true, bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }),
      fail: (cause) => resolve({ ok: false, cause }),
    };
    upstream.pipeTo(sink);
  });
}
