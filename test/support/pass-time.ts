import { SECOND_MS } from '#core/clock.ts';
import type { FakeClock } from './fake-clock.ts';
import { type TestGateway, until } from './gateway.ts';

const STEP_MS = 10 * SECOND_MS;

/** Time moves in steps, each after the journal has caught up: its disk lives in real time. */
export async function passTime(gateway: TestGateway, clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    await until(() => gateway.running.deps.store.lag().events === 0);
    clock.advance(Math.min(left, STEP_MS));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
