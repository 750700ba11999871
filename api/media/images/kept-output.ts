import type { ImageType } from '#core/files/file-name.ts';
import { completedEvent } from './image-answer.ts';
import type { ImageCall } from './image-call.ts';
import type { ImageOutput, ImageTotals } from './image-output.ts';

/** The one image of a stream, in memory until its event is written: what it cost stands beside it. */
export class KeptOutput implements ImageOutput {
  readonly #call: ImageCall;
  #pieces: Buffer[] = [];
  #type: ImageType | null = null;

  constructor(call: ImageCall) {
    this.#call = call;
  }

  async take(type: ImageType, bytes: AsyncIterable<Buffer>): Promise<void> {
    // Of a provider that answers with several the first is the one that was asked for.
    if (this.#type !== null) return;
    this.#type = type;
    for await (const piece of bytes) this.#pieces.push(piece);
  }

  async prepare(): Promise<void> {}

  keep(): null {
    return null;
  }

  end(totals: ImageTotals): void {
    const image = {
      b64_json: Buffer.concat(this.#pieces).toString('base64'),
      media_type: this.#type,
    };
    completedEvent(this.#call, image, totals);
  }

  async close(): Promise<void> {
    this.#pieces = [];
  }
}
