import { GATE_BUFFER_BYTES } from '#core/limits.ts';
import type { UpstreamFailure, UpstreamRequest } from '../inference/upstream/upstream-request.ts';

/** Why an answer cannot be read to its end. Thrown, because it passes through whoever stores the bytes. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer';
  readonly failure: UpstreamFailure | 'malformed' | 'too_large';

  constructor(failure: UpstreamFailure | 'malformed' | 'too_large') {
    super(`the answer is broken: ${failure}`);
    this.failure = failure;
  }
}

/** An answer's bytes at their reader's pace: the provider is paused while some wait. Throws `BrokenAnswer`. */
export async function* upstreamChunks(
  upstream: UpstreamRequest,
  bytesMax: number,
): AsyncGenerator<Buffer, void> {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let end: UpstreamFailure | 'whole' | null = null;
  let wake = (): void => {};
  upstream.pipeTo({
    data(chunk) {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes > GATE_BUFFER_BYTES) upstream.pause();
      wake();
    },
    end() {
      end = 'whole';
      wake();
    },
    fail(cause) {
      end = cause;
      wake();
    },
  });
  const ended = (): UpstreamFailure | 'whole' | null => end;
  for (;;) {
    const chunk = waiting.shift();
    if (chunk !== undefined) {
      waitingBytes -= chunk.length;
      if (upstream.bytesReceived > bytesMax) throw new BrokenAnswer('too_large');
      if (waitingBytes === 0) upstream.resume();
      yield chunk;
      continue;
    }
    const how = ended();
    if (how === 'whole') return;
    if (how !== null) throw new BrokenAnswer(how);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}
