import type { Clock } from '#core/clock.ts';
import type { Probe } from '#core/provider-health/probe-provider.ts';
import { createEndpointHealth, type EndpointHealth } from '../../api/inference/routing/endpoint-health.ts';
import { createFakeClock } from './fake-clock.ts';

/** Circuit breakers that are all closed. Without a probe they are closed by calls alone. */
export const plainHealth = (clock: Clock = createFakeClock(), probe: Probe | null = null): EndpointHealth =>
  createEndpointHealth({ clock, probe, log: { info() {}, warn() {}, error() {} }, current: () => undefined });
