import type { PictureType } from '#core/files/file-name.ts';
import { completedEvent } from './picture-answer.ts';
import type { PictureCall } from './picture-call.ts';
import type { PictureOutput, PictureTotals } from './picture-output.ts';

/** The one picture of a stream, in memory until its event is written: what it cost stands beside it. */
export class KeptOutput implements PictureOutput {
  readonly #call: PictureCall;
  #pieces: Buffer[] = [];
  #type: PictureType | null = null;

  constructor(call: PictureCall) {
    this.#call = call;
  }

  async take(type: PictureType, bytes: AsyncIterable<Buffer>): Promise<void> {
    // Of a provider that answers with several the first is the one that was asked for.
    if (this.#type !== null) return;
    this.#type = type;
    for await (const piece of bytes) this.#pieces.push(piece);
  }

  async prepare(): Promise<void> {}

  keep(): null {
    return null;
  }

  end(totals: PictureTotals): void {
    const picture = {
      b64_json: Buffer.concat(this.#pieces).toString('base64'),
      media_type: this.#type,
    };
    completedEvent(this.#call, picture, totals);
  }

  async close(): Promise<void> {
    this.#pieces = [];
  }
}
