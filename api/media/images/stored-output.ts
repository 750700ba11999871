import { isoTime, SECOND_MS } from '#core/clock.ts';
import { type FileName, hourOf, type ImageType } from '#core/files/file-name.ts';
import { randomBase62 } from '#core/ids.ts';
import type { Settle } from '#core/ledger/command.ts';
import { RESULT_LINK_MS } from '#core/limits.ts';
import { answerHeaders } from '../../inference/hold/answer-headers.ts';
import { answerTail, completedEvent } from './image-answer.ts';
import type { ImageCall } from './image-call.ts';
import type { ImageFiles, ImageOutput, ImageTotals } from './image-output.ts';

/** Images that are stored, and answered by their links: all of one call, or none. */
export class StoredOutput implements ImageOutput {
  readonly #call: ImageCall;
  readonly #files: ImageFiles;
  readonly #images: { name: FileName; type: ImageType }[] = [];
  #bytes = 0;
  #untilMs = 0;
  #shown: object[] = [];

  constructor(call: ImageCall, files: ImageFiles) {
    this.#call = call;
    this.#files = files;
  }

  async take(type: ImageType, bytes: AsyncIterable<Buffer>): Promise<void> {
    const { gateway, agentId } = this.#call.options;
    if (this.#untilMs === 0) {
      const nowMs = gateway.clock.now();
      this.#untilMs = nowMs - (nowMs % SECOND_MS) + RESULT_LINK_MS;
    }
    const name: FileName = {
      kind: 'pictures',
      endHour: hourOf(this.#untilMs),
      agentId,
      id: `img_${randomBase62(24)}`,
      contentType: type,
    };
    const written = await this.#files.write(name, bytes);
    this.#images.push({ name, type });
    this.#bytes += written.bytes;
  }

  async prepare(): Promise<void> {
    const expires_at = isoTime(this.#untilMs);
    this.#shown = await Promise.all(
      this.#images.map(async ({ name, type }) => ({
        url: await this.#files.getLink(name, this.#untilMs),
        media_type: type,
        expires_at,
      })),
    );
  }

  keep(): Settle['stored'] {
    this.#images.length = 0;
    return { bytes: this.#bytes, untilMs: this.#untilMs };
  }

  end(totals: ImageTotals): void {
    const call = this.#call;
    const [first] = this.#shown;
    if (call.options.stream) {
      if (first !== undefined) completedEvent(call, first, totals);
      return;
    }
    const body = Buffer.from(`{"data":${JSON.stringify(this.#shown)},${answerTail(call, totals)}}`);
    const head = answerHeaders(call, 'application/json');
    head.push('content-length', String(body.length));
    call.caller.begin(head);
    call.caller.end(body);
  }

  /** What cannot be deleted ends by itself: nobody has a link. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#images.map(({ name }) => this.#files.delete(name)));
  }
}
