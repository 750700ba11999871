import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeVideoProvider extends AsyncDisposable {
  baseUrl: string;
  /** `POST /videos`, `GET /videos/x`, `GET /videos/x/content?index=0`, in the order in which they came. */
  requests: string[];
  headers: IncomingMessage['headers'][];
  bodies: string[];
  /** Requests that made a job: the one number that may never be two. */
  posts(): number;
  on: {
    post: Answer;
    poll: Answer;
    content: Answer;
  };
}

export type Answer = (req: IncomingMessage, res: ServerResponse, count: number) => void;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_req, res) =>
    void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** A small MP4 by its first bytes; how it plays is not looked at. */
export const mp4 = (bytes: number): Buffer =>
  Buffer.concat([Buffer.from([0, 0, 0, 16]), Buffer.from('ftypisom'), Buffer.alloc(bytes - 12, 7)]);

export const content =
  (file: Buffer, headers: Record<string, string> = {}): Answer =>
  (_req, res) =>
    void res
      .writeHead(200, { 'content-type': 'video/mp4', 'content-length': String(file.length), ...headers })
      .end(file);

/** Answers one after the other; the last one stays. */
export const oneByOne = (...answers: Answer[]): Answer => {
  let at = 0;
  return (req, res, count) => answers[Math.min(at++, answers.length - 1)]?.(req, res, count);
};

/** A provider that does what a test tells it, in ways that no sane server has. */
export async function startFakeVideoProvider(): Promise<FakeVideoProvider> {
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const bodies: string[] = [];
  const on = {
    post: json(202, { id: 'job-1', polling_url: 'https://elsewhere.test/', status: 'pending' }),
    poll: json(200, { id: 'job-1', status: 'completed', usage: { cost: 0.5 } }),
    content: content(mp4(1_000)),
  };
  const server = createServer(async (req, res) => {
    req.on('error', () => {});
    requests.push(`${req.method} ${req.url?.replace('/api/v1', '')}`);
    headers.push(req.headers);
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks).toString());
    const which = req.method === 'POST' ? 'post' : req.url?.includes('/content') ? 'content' : 'poll';
    on[which](req, res, requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    requests,
    headers,
    bodies,
    posts: () => requests.filter((each) => each.startsWith('POST')).length,
    on,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
