import { type Clock, SECOND_MS } from '#core/clock.ts';
import { USAGE_DRAIN_MS, VIDEO_SUBMIT_MS } from '#core/limits.ts';
import { atMost } from '#core/wait.ts';
import type { Deps } from '../deps.ts';
import type { InternalServer } from '../http/create-internal-server.ts';
import type { PublicServer } from '../http/create-public-server.ts';
import type { Simulator } from '../simulator/simulator.ts';

/** Calls whose closing the journal has not taken by then are cleaned up by the next start. */
const LAST_CLOSINGS_WAIT_MS = 5 * SECOND_MS;

interface Parts {
  deps: Deps;
  publicServer: PublicServer;
  internalServer: Pick<InternalServer, 'close'>;
  watchedClock: { stop(): Promise<void> };
  simulator: Pick<Simulator, 'close'> | null;
}

/** Ends a running gateway: a drain lets its calls settle, a stop cuts them. A stop may come during a drain. */
export class GatewayShutdown {
  readonly #parts: Parts;
  readonly #clock: Clock;
  readonly #cut = Promise.withResolvers<void>();
  #drainEndsAtMs = Number.POSITIVE_INFINITY;
  #videosStopped: Promise<void> | null = null;
  #ended: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#clock = parts.deps.clock;
  }

  drain(): Promise<void> {
    this.#ended ??= this.#drain();
    return this.#ended;
  }

  async stop(): Promise<void> {
    const { publicServer } = this.#parts;
    this.#drainEndsAtMs = this.#clock.monotonicMs();
    this.#cut.resolve();
    void publicServer.endDrain();
    publicServer.destroy();
    this.#ended ??= this.#end(0);
    await this.#ended;
  }

  async #drain(): Promise<void> {
    const { deps, publicServer } = this.#parts;
    const { openCalls, capacity, health, limits } = deps.gateway;
    const { server } = deps.config.current();
    const { streamMs, callMs } = limits();
    const drainMs = server.drainMs ?? server.drainNoticeMs + Math.max(streamMs, callMs) + USAGE_DRAIN_MS;
    this.#drainEndsAtMs = this.#clock.monotonicMs() + drainMs;
    publicServer.beginDrain();
    await settlesWithin(this.#cut.promise, Math.min(server.drainNoticeMs, drainMs), this.#clock);
    capacity.ending = true;
    // No call will ask any more whether a provider is back.
    health.close();
    const drained = publicServer.endDrain();
    const isEarly = await settlesWithin(drained, Math.max(0, this.#leftMs() - VIDEO_SUBMIT_MS), this.#clock);
    // From here on none is handed over any more, and what is has its whole time until the end.
    void this.#stopVideos(Math.max(this.#leftMs(), LAST_CLOSINGS_WAIT_MS));
    if (isEarly || (await settlesWithin(drained, this.#leftMs(), this.#clock))) {
      await this.#end(Math.min(USAGE_DRAIN_MS + LAST_CLOSINGS_WAIT_MS, this.#leftMs()));
      return;
    }
    const count = openCalls.endAll();
    if (count > 0) deps.log.warn('the drain has no more time: what still runs is ended', { count });
    await settlesWithin(drained, LAST_CLOSINGS_WAIT_MS, this.#clock);
    publicServer.destroy();
    await this.#end(0);
  }

  /** Every call is settled before the ledger goes: what is read on after a hang-up has its minute, or is cut. */
  async #end(usageDrainsWaitMs: number): Promise<void> {
    const { deps, internalServer, watchedClock, simulator } = this.#parts;
    const { openCalls, ledgerRetries, upstreams } = deps.gateway;
    const videosStopped = this.#stopVideos(usageDrainsWaitMs);
    // Ended by us, and not by their provider: so they pay as at the end of their minute.
    const isIdle = await settlesWithin(openCalls.idle(), usageDrainsWaitMs, this.#clock);
    if (!isIdle && usageDrainsWaitMs > 0) openCalls.endAll();
    await videosStopped;
    await upstreams.close();
    await settlesWithin(openCalls.idle(), LAST_CLOSINGS_WAIT_MS, this.#clock);
    await settlesWithin(ledgerRetries.idle(), LAST_CLOSINGS_WAIT_MS, this.#clock);
    await internalServer.close();
    await watchedClock.stop();
    await deps.close();
    await simulator?.close();
  }

  /** A video that is being handed to its provider has so long: cut, it could never be sent again, and would have failed. */
  #stopVideos(sendingWaitMs: number): Promise<void> {
    this.#videosStopped ??= this.#parts.deps.workers.stopVideos(sendingWaitMs);
    return this.#videosStopped;
  }

  #leftMs(): number {
    return Math.max(0, this.#drainEndsAtMs - this.#clock.monotonicMs());
  }
}

/** False after `waitMs`. */
async function settlesWithin(work: Promise<void>, waitMs: number, clock: Clock): Promise<boolean> {
  const settled = work.then(() => true);
  return waitMs > 0 && (await atMost(clock, settled, waitMs, false));
}
