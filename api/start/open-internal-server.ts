import type { Registry } from 'prom-client';
import { httpOrigin } from '#core/http-origin.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { Config } from '../config/config.ts';
import { errorBody } from '../contract/error-body.ts';
import { apiError } from '../contract/errors.ts';
import type { AnswerIds } from '../http/broken-request.ts';
import { createInternalServer, type InternalServer } from '../http/create-internal-server.ts';
import { sendJson } from '../http/send-json.ts';
import { observeStart } from '../metrics/process.ts';

export interface OpenInternalServer extends InternalServer {
  url: string;
}

/** Listens before anything else is there: who starts and waits is live, not ready, and says what for. */
export async function openInternalServer(options: {
  server: Config['server'];
  metrics: Registry;
  waits: StartWaits;
  answerIds: AnswerIds;
}): Promise<OpenInternalServer> {
  const { server, metrics, waits, answerIds } = options;
  observeStart(metrics, waits);
  const internal = createInternalServer({
    checks: { start: () => describe(waits) },
    metrics,
    admin: (_req, res) => sendJson(res, 503, {}, errorBody(apiError('service_unavailable'), 'chat')),
    answerIds,
    hostNames: [...server.internalHostNames, server.internalHost.toLowerCase()],
  });
  const port = await internal.listen(server.internalPort, server.internalHost);
  return { ...internal, url: httpOrigin(server.internalHost, port) };
}

function describe({ reasons }: StartWaits): string {
  const waitsFor = Array.from(reasons, ([store, reason]) => `it waits for ${store}: ${reason}`);
  return waitsFor.length === 0 ? 'it starts' : waitsFor.join('; ');
}
