import { createServer } from 'node:net';
import { request } from 'undici';
import { z } from 'zod';
import { folderHolder } from '#core/ledger/embedded/sqlite-folder-lock.ts';
import { DOCTOR_CONNECT_MS } from '#core/limits.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Whether a gateway runs here, how it is, and else whether it could. */
export async function checkPorts({
  server,
  storage,
}: Pick<Config, 'server' | 'storage'>): Promise<Finding[]> {
  const { host, port, internalHost, internalPort } = server;
  const state = internalPort === 0 ? null : await askReady(internalHost, internalPort);
  const isOurs = state !== null || folderHolder(storage.dataDir) !== null;
  return [
    describeState(state, isOurs),
    await checkPort('port', { host, port, isOurs, setting: 'PORT (server.port)' }),
    await checkPort('internal port', {
      ...{ host: internalHost, port: internalPort, isOurs },
      setting: 'INTERNAL_PORT (server.internalPort)',
    }),
  ];
}

const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  failing: z.array(z.string()).default([]),
  reasons: z.record(z.string(), z.string()).default({}),
});
type Readiness = z.infer<typeof readiness>;

/** `null`: nothing there is a gateway. */
async function askReady(host: string, port: number): Promise<Readiness | null> {
  try {
    const { body } = await request(`http://${reachableAt(host)}:${port}/readyz`, {
      ...{ headersTimeout: DOCTOR_CONNECT_MS, bodyTimeout: DOCTOR_CONNECT_MS, reset: true },
    });
    return readiness.safeParse(await body.json()).data ?? null;
  } catch {
    return null;
  }
}

function describeState(state: Readiness | null, isLocked: boolean): Finding {
  if (state === null)
    return ok('gateway', isLocked ? 'it runs, on a port that is not the configured one' : 'none runs here');
  if (state.status === 'ready') return ok('gateway', 'it runs and is ready');
  const reasons = state.failing.map((name) => state.reasons[name] ?? name).join('; ');
  return warning(
    'gateway',
    `it runs and is not ready: ${reasons}`,
    'Mend what it waits for, or wait until its start or drain is over.',
  );
}

interface Port {
  host: string;
  port: number;
  /** A gateway that may have it runs here. */
  isOurs: boolean;
  setting: string;
}

async function checkPort(check: string, { host, port, isOurs, setting }: Port): Promise<Finding> {
  if (port === 0) return ok(check, 'any that is free');
  const code = await whyNotFree(host, port);
  if (code === null) return ok(check, `${host}:${port} is free`);
  if (code === 'EADDRINUSE' && isOurs) return ok(check, `${host}:${port} is in use by the gateway`);
  if (code === 'EADDRINUSE') {
    return problem(
      check,
      `another program listens on ${host}:${port}`,
      `End it, or choose another port with ${setting}.`,
    );
  }
  return problem(
    check,
    `${host}:${port} cannot be listened on (${code})`,
    `Choose another host, or another port with ${setting}.`,
  );
}

const whyNotFree = (host: string, port: number): Promise<string | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'no code'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });

/** Where a server that listens on all addresses is asked. */
const reachableAt = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
