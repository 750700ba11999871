import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { answerSchema, type Change, laterAnswer } from './later-answer.ts';

/** Something that stands between a client and the gateway, and answers in its place or changes its answers. */
export interface StandIn extends AsyncDisposable {
  baseUrl: string;
  /** Such as `POST /messages`, as they came. */
  asked: string[];
}

export interface Behaviour {
  change?: Change;
  /** Of requests of this operation, the answer to the first, the second and so on: `null` for the gateway's own. */
  answers?: Record<string, (time: number) => CannedAnswer | null>;
}

export interface CannedAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The connection ends after the body, however much the headers have announced. */
  isCut?: boolean;
}

export async function startStandIn(gatewayUrl: string, behaviour: Behaviour): Promise<StandIn> {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    const path = req.url?.replace(/^\/v1|\?.*$/g, '') ?? '';
    const operation = `${req.method} ${path}`;
    asked.push(operation);
    const time = asked.filter((each) => each === operation).length;
    const canned = behaviour.answers?.[operation]?.(time) ?? null;
    if (canned !== null) void sendCanned(req, res, canned);
    else void passOn(req, res, path, time);
  });

  async function passOn(req: IncomingMessage, res: ServerResponse, path: string, time: number) {
    const { host: _, connection: __, ...headers } = req.headers;
    const answer = await fetch(new URL(req.url ?? '', gatewayUrl), {
      method: req.method ?? 'GET',
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      redirect: 'manual',
      ...(req.method === 'POST' ? { body: await buffer(req) } : {}),
    });
    const type = answer.headers.get('content-type') ?? '';
    const schema = answerSchema(req.method ?? '', path, answer.status, type.startsWith('text/event-stream'));
    const text = await answer.text();
    // Asked again of a job, it says what the gateway says: a status that nobody knows is not its last.
    const values = behaviour.change?.values === true && (req.method === 'POST' || time === 1);
    const change = { ...behaviour.change, values };
    const changed =
      schema === null ? text : changeText(text, type, (each) => laterAnswer(each, schema, change));
    for (const name of ['content-type', 'location', 'retry-after-ms'])
      if (answer.headers.has(name)) res.setHeader(name, answer.headers.get(name) ?? '');
    res.writeHead(answer.status).end(changed);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on a port, so its address is no path.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function sendCanned(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body, isCut }: CannedAnswer,
): Promise<void> {
  // A connection that is closed over an unread request is reset, and the client may lose what it was sent.
  await buffer(req);
  res.writeHead(status, headers);
  if (isCut === true) res.write(body, () => res.socket?.end());
  else res.end(body);
}

/** A body of JSON, or every event of a stream. */
function changeText(text: string, type: string, change: (value: unknown) => unknown): string {
  if (!type.startsWith('text/event-stream')) return JSON.stringify(change(JSON.parse(text)));
  return text.replaceAll(
    /^data: (\{.*\})$/gm,
    (_, data: string) => `data: ${JSON.stringify(change(JSON.parse(data)))}`,
  );
}
