import { createServer } from 'node:net';

const FIRST = 20_000;
const COUNT = 11_000;
const given = new Set<number>();

/**
 * A free port below the range that outgoing connections draw from, so that none of them takes it before its service
 * does, and so that a service finds it free again at its restart.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
