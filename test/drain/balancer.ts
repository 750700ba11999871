import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Endpoint {
  name: string;
  port: number;
  internalUrl: string;
}

/** What a Service of Kubernetes is to its callers: requests go in turns to those that were ready a moment ago. */
export interface Balancer {
  url: string;
  add(endpoint: Endpoint): void;
  /** Names, as requests are sent now. */
  targets(): readonly string[];
  close(): Promise<void>;
}

/** A kubelet asks each 100 ms here, and 500 ms later everybody knows: ten times as fast as in a cluster, in proportion. */
const PROBE_MS = 100;
const LAG_MS = 500;

export async function startBalancer(): Promise<Balancer> {
  const endpoints: { endpoint: Endpoint; agent: Agent; isReady: boolean }[] = [];
  let turn = 0;
  let isOpen = true;

  const server = createServer((req, res) => {
    const ready = endpoints.filter(({ isReady }) => isReady);
    const target = ready[turn++ % ready.length];
    if (target === undefined) res.writeHead(502).end('nobody is ready');
    else forward(req, res, target.endpoint.port, target.agent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function probe(known: (typeof endpoints)[number]): Promise<void> {
    while (isOpen) {
      const answer = await fetch(`${known.endpoint.internalUrl}/readyz`).catch(() => null);
      const isReady = answer?.status === 200;
      setTimeout(() => {
        known.isReady = isReady;
      }, LAG_MS).unref();
      await sleep(PROBE_MS);
    }
  }

  return {
    url: `http://127.0.0.1:${port}`,
    add(endpoint) {
      const known = { endpoint, agent: new Agent({ keepAlive: true }), isReady: false };
      endpoints.push(known);
      void probe(known);
    },
    targets: () => endpoints.filter(({ isReady }) => isReady).map(({ endpoint }) => endpoint.name),
    async close() {
      isOpen = false;
      for (const { agent } of endpoints) agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Nothing is tried again: what fails, the caller sees. */
function forward(req: IncomingMessage, res: ServerResponse, port: number, agent: Agent): void {
  const { method, url, headers } = req;
  const upstream = request({ host: '127.0.0.1', port, agent, method, path: url, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
    answer.on('error', () => res.destroy());
  });
  upstream.on('error', (error) => {
    if (res.headersSent) res.destroy();
    else res.writeHead(502).end(error.message);
  });
  req.pipe(upstream);
}
