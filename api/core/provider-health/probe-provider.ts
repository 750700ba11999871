import { Client, type Dispatcher } from 'undici';
import type { Provider } from '../catalog/catalog.ts';
import { jsonGet, preparedRequest } from '../catalog/prepared-request.ts';
import type { ProviderRequest } from '../catalog/provider-kind.ts';
import { type Clock, SECOND_MS } from '../clock.ts';

/** A probe of a provider without an answer by then has failed. */
const PROBE_TIMEOUT_MS = 5 * SECOND_MS;

/** `unconnected`: no byte was sent. `no_answer`: the connection stood, and no status came in time. */
export type ProbeAnswer = { kind: 'unconnected' | 'no_answer' } | { kind: 'answered'; status: number };

/** `key`: a path that no provider answers without a valid key, where its kind has one. */
export type ProbeTarget = 'models' | 'key';

export type Probe = (provider: Provider, target: ProbeTarget, signal: AbortSignal) => Promise<ProbeAnswer>;

/**
 * Asks a provider for its list of models, with our key, over a new connection, and reads the status alone. That costs nothing,
 * and nothing of it can be decided by a caller. Never throws.
 */
export function createProbe(clock: Clock): Probe {
  return async (provider, target, signal) => {
    const { origin, pathname } = new URL(provider.baseUrl);
    const client = new Client(origin, {
      allowH2: false,
      connect: { timeout: PROBE_TIMEOUT_MS },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    let sent = false;
    const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
    const giveUp = () => resolve({ kind: sent ? 'no_answer' : 'unconnected' });
    const timer = clock.setTimer(PROBE_TIMEOUT_MS, giveUp);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart() {
          sent = true;
        },
        onResponseStart(_controller, status) {
          if (status >= 200) resolve({ kind: 'answered', status });
        },
        onResponseData() {},
        onResponseEnd() {},
        onResponseError: giveUp,
      };
      const send = (request: ProviderRequest): void => {
        client.dispatch({ ...request, path: pathname.replace(/\/$/, '') + request.path }, handler);
      };
      preparedRequest(provider, jsonGet(pathOf(provider, target)))
        .then(send)
        .catch(giveUp);
      return await promise;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
      await client.destroy();
    }
  };
}

/** A router lists its models for anybody. What it says of our key it says to nobody else. */
const pathOf = ({ kind }: Provider, target: ProbeTarget): string =>
  (target === 'key' ? kind.keyPath : null) ?? kind.lists.models.path;
