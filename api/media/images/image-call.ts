import type { Provider } from '#core/catalog/catalog.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { IMAGE_ANSWER_BYTES } from '#core/limits.ts';
import { HeldCall, type HeldCallOptions } from '../../inference/hold/held-call.ts';
import type { UsageDrainBounds } from '../../inference/hold/usage-drain.ts';
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

  /** None: a caller that got no image because this process died owes nothing for it. */
  protected get renewalId(): null {
    return null;
  }

  protected override get usageDrainBounds(): UsageDrainBounds {
    return imageUsageDrain;
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

  override callerResumed(): void {
    super.callerResumed();
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

const imageUsageDrain: UsageDrainBounds = { ms: IMAGE_DRAIN_MS, bytes: IMAGE_ANSWER_BYTES };
