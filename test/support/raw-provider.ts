import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider that writes whatever bytes a test wants: what no well-meaning server would send. */
export interface RawProvider extends AsyncDisposable {
  baseUrl: string;
  /** Of every answer from now on. */
  answers: Play;
  /** Requests so far. */
  asked(): number;
}

export type Play = (res: ServerResponse) => void | Promise<void>;

export async function startRawProvider(): Promise<RawProvider> {
  let asked = 0;
  const provider: Omit<RawProvider, 'baseUrl'> = {
    answers: (res) => void res.destroy(),
    asked: () => asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((req, res) => {
    asked++;
    req.resume().on('end', () => void provider.answers(res));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(provider, { baseUrl: `http://127.0.0.1:${port}` });
}

/** All of it, in one answer. */
export const plays =
  (bytes: string | Buffer, type = 'text/event-stream', headers: Record<string, string> = {}): Play =>
  (res) =>
    void res.writeHead(200, { 'content-type': type, ...headers }).end(bytes);

/** Resolves with the bytes that were taken before the reader went away, or after `bytesMax`. */
export async function pour(res: ServerResponse, piece: Buffer, bytesMax: number): Promise<number> {
  let poured = 0;
  const closed = new Promise<void>((resolve) => res.once('close', resolve));
  while (!res.destroyed && poured < bytesMax) {
    poured += piece.length;
    if (res.write(piece)) continue;
    await Promise.race([closed, new Promise<void>((resolve) => res.once('drain', resolve))]);
  }
  if (!res.destroyed) res.end();
  return poured;
}
