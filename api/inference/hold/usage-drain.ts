import type { UpstreamRequest } from '../upstream/upstream-request.ts';
import type { OpenCalls } from './open-calls.ts';

/** Usage drains at one time in a process. A hang-up beyond it closes the provider's connection. */
const USAGE_DRAINS_MAX = 200;

/** How long, and how far, an answer is read on after a hang-up. */
export interface UsageDrainBounds {
  ms: number;
  bytes: number;
}

/**
 * Reading on after a hang-up. A provider that bills the whole answer although its caller has left is read to the end, within
 * bounds, because only its usage record tells what the call costs. Every other provider's connection is closed at once.
 */
export class UsageDrain {
  readonly #openCalls: Pick<OpenCalls, 'usageDrains'>;
  readonly #upstream: UpstreamRequest;
  readonly #endsAtMs: number;
  readonly #bytesMax: number;

  private constructor(
    openCalls: Pick<OpenCalls, 'usageDrains'>,
    upstream: UpstreamRequest,
    { ms, bytes }: UsageDrainBounds,
    nowMs: number,
  ) {
    this.#openCalls = openCalls;
    this.#upstream = upstream;
    this.#endsAtMs = nowMs + ms;
    this.#bytesMax = upstream.bytesReceived + bytes;
  }

  /** `null`: this process reads on for as many calls as it may. */
  static begin(
    openCalls: Pick<OpenCalls, 'usageDrains'>,
    upstream: UpstreamRequest,
    bounds: UsageDrainBounds,
    nowMs: number,
  ): UsageDrain | null {
    if (openCalls.usageDrains >= USAGE_DRAINS_MAX) return null;
    openCalls.usageDrains++;
    upstream.resume();
    return new UsageDrain(openCalls, upstream, bounds, nowMs);
  }

  isOver(nowMs: number): boolean {
    return nowMs >= this.#endsAtMs || this.#upstream.bytesReceived > this.#bytesMax;
  }

  end(): void {
    this.#openCalls.usageDrains--;
  }
}
