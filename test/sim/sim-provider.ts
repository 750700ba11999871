import type { LookedUpPrice } from '#core/calls/look-up-price.ts';
import { nanoToAtto } from '#core/money.ts';
import type { SimCall } from './sim-call.ts';
import type { SimHost } from './sim-host.ts';

/** Bills what it was asked for, and sometimes tells how much. */
export class SimProvider {
  readonly #calls = new Map<string, SimCall>();

  generationIdOf({ plan }: SimCall): string {
    return `gen-${plan.callId}`;
  }

  dispatch(call: SimCall): void {
    call.dispatched = true;
    call.billedNanoUsd = call.plan.failure === 'free' ? 0n : call.plan.costNanoUsd;
    this.#calls.set(this.generationIdOf(call), call);
  }

  async lookUp(generationId: string, host: SimHost): Promise<LookedUpPrice | null> {
    await host.sleep(20 + host.world.draw(200));
    const call = this.#calls.get(generationId);
    const readyMs = call?.plan.priceReadyMs ?? null;
    if (call === undefined || readyMs === null) return null;
    if (host.world.time.nowMs < call.arrivedAtMs + call.plan.wholeMs + readyMs) return null;
    return { attoUsd: nanoToAtto(call.billedNanoUsd), tokens: null };
  }
}
