import type { Provider } from '#core/catalog/catalog.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { IMAGE_ANSWER_BYTES } from '#core/limits.ts';
import type { DrainBounds } from '../../inference/hold/hang-up.ts';
import { HeldCall, type HeldCallOptions } from '../../inference/hold/held-call.ts';
import type { LinkedImage } from '../../inference/linked-images/linked-media.ts';
import type { AskedEndpoint } from '../../inference/upstream/upstream-error.ts';
import type { UpstreamRequest } from '../../inference/upstream/upstream-request.ts';
import type { ImagePlan } from './image-plan.ts';

/**
 * How long a finished image is awaited after a hang-up. Its provider is paid for it and takes up to a
 * minute and a half.
 */
const IMAGE_DRAIN_MS = 5 * MINUTE_MS;

export interface ImageCallOptions extends HeldCallOptions {
  plan: ImagePlan;
  /** That the model reads, looked at. */
  images: readonly LinkedImage[];
}

/** A request for images between its hold and its settlement. */
export class ImageCall extends HeldCall {
  declare readonly options: ImageCallOptions;
  readonly endpoint = 'images';
  /** Whatever is configured for its texts: no provider stops, or bills less, for a caller who hangs up on an image. */
  protected readonly billsAfterHangUp = true;
  #wake: (() => void) | null = null;

  constructor(options: ImageCallOptions) {
    super(options);
  }

  get provider(): Provider {
    return this.options.plan.provider;
  }

  /** The scrubber of the provider's words needs this. An image is not counted against a context. */
  get asked(): AskedEndpoint {
    const { provider, model } = this.options.plan;
    return { provider, upstreamModel: model.upstreamModel, publicModel: model.id, contextTokens: null };
  }

  /** None: who never got an image, because we died, owes nothing for it. */
  protected get idToKeep(): null {
    return null;
  }

  protected override get drainBounds(): DrainBounds {
    return imageDrain;
  }

  dispatch(body: Buffer): UpstreamRequest {
    const { gateway, plan } = this.options;
    return this.send(() =>
      gateway.upstreams.post(plan.provider, { path: '/images', body, stream: plan.stream, headers: null }),
    );
  }

  /** Resolves when the caller takes more, or has left. */
  async write(bytes: Buffer): Promise<void> {
    if (this.caller.write(bytes) || this.caller.gone) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  override callerDrained(): void {
    super.callerDrained();
    this.#wakeWriter();
  }

  override callerGone(): void {
    super.callerGone();
    this.#wakeWriter();
  }

  #wakeWriter(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}

const imageDrain: DrainBounds = { ms: IMAGE_DRAIN_MS, bytes: IMAGE_ANSWER_BYTES };
