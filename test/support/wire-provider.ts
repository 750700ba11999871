import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';

/** Bytes that some server has been seen to send. */
export interface WireAnswer {
  status?: number;
  headers?: Record<string, string>;
  body: string | Buffer;
  /** The body of whatever is asked by GET, such as a record of a call. */
  record?: string;
  /** Sent, and then the connection is lost. */
  cut?: boolean;
  /** Writes the rest of the answer by itself, behind `body`. */
  play?: (res: ServerResponse) => Promise<void>;
}

export interface WireRequest {
  path: string;
  headers: IncomingHttpHeaders;
  /** Empty where the body is no object of JSON. */
  body: Record<string, unknown>;
  bytes: Buffer;
}

/** A provider that answers byte for byte what a test says, in whichever dialect. */
export interface WireProvider extends AsyncDisposable {
  /** Without a path. */
  url: string;
  requests: WireRequest[];
  /** Of every call from now on. */
  answer(answer: WireAnswer): void;
}

export async function startWireProvider(): Promise<WireProvider> {
  let next: WireAnswer = { body: '' };
  const requests: WireRequest[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const value = parseJson(bytes.toString());
      requests.push({ path: req.url ?? '', headers: req.headers, body: isRecord(value) ? value : {}, bytes });
      if (req.method === 'GET' && next.record !== undefined) {
        res.writeHead(200, { 'content-type': 'application/json' }).end(next.record);
        return;
      }
      const { status = 200, headers = { 'content-type': 'application/json' }, body: sent, cut, play } = next;
      res.writeHead(status, headers);
      if (play !== undefined) {
        res.write(sent);
        void play(res);
      } else if (cut === true) res.write(sent, () => res.destroy());
      else res.end(sent);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (answer) => {
      next = answer;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As a server sends it: unnamed events, one line each. */
export const sse = (...events: string[]): WireAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((event) => (/^(event|:)/.test(event) ? `${event}\n\n` : `data: ${event}\n\n`)).join(''),
});
