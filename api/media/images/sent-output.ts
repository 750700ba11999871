import type { ImageType } from '#core/files/file-name.ts';
import { answerHeaders } from '../../inference/hold/answer-headers.ts';
import { answerTail } from './image-answer.ts';
import type { ImageCall } from './image-call.ts';
import type { ImageOutput, ImageTotals } from './image-output.ts';

/** Images that pass to a caller who wants the bytes themselves, at the pace at which it takes them. Nothing is stored. */
export class SentOutput implements ImageOutput {
  readonly #call: ImageCall;

  constructor(call: ImageCall) {
    this.#call = call;
  }

  async take(type: ImageType, bytes: AsyncIterable<Buffer>): Promise<void> {
    const call = this.#call;
    // A shut gate has ended the provider's answer, too.
    if ((await call.gate) === 'shut') return;
    const opening = call.caller.committed ? ',' : '{"data":[';
    if (!call.caller.committed) call.caller.begin(answerHeaders(call, 'application/json'));
    await call.write(Buffer.from(`${opening}{"media_type":"${type}","b64_json":"`));
    // Each piece but the last is a multiple of three bytes, so their texts can be joined.
    for await (const piece of bytes) await call.write(Buffer.from(piece.toString('base64'), 'latin1'));
    await call.write(Buffer.from('"}'));
  }

  async prepare(): Promise<void> {}

  keep(): null {
    return null;
  }

  end(totals: ImageTotals): void {
    this.#call.caller.end(Buffer.from(`],${answerTail(this.#call, totals)}}`));
  }

  async close(): Promise<void> {}
}
