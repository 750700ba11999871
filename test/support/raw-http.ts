import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** Lower-case names. A repeated header is joined by `, `. */
  headers: Record<string, string>;
  body: string;
}

/** A client that sends exactly the bytes it is told to, for requests that no HTTP library would make. */
export class RawClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
    });
    // A reset is one way in which a server closes.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#ended = true;
    });
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
    const client = new RawClient(socket);
    await once(socket, 'connect');
    return client;
  }

  /** Header lines are joined as they are; the empty line after the head is added, a body is not. */
  head(lines: readonly string[]): this {
    return this.send(`${lines.join('\r\n')}\r\n\r\n`);
  }

  send(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  /** The next whole answer by its content-length; `null`: the connection closed without one. */
  async answer(): Promise<RawAnswer | null> {
    for (;;) {
      const parsed = parseAnswer(this.#received);
      if (parsed !== null) {
        this.#received = this.#received.subarray(parsed.size);
        return parsed.answer;
      }
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.socket.off('data', wake).off('close', wake);
          resolve();
        };
        this.socket.on('data', wake).on('close', wake);
      });
    }
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    if (!this.#ended) await once(this.socket, 'close');
  }

  get isClosed(): boolean {
    return this.#ended;
  }

  /** Bytes that came in and belong to no answer yet. */
  get rest(): string {
    return this.#received.toString('latin1');
  }

  destroy(): void {
    this.socket.destroy();
  }
}

function parseAnswer(bytes: Buffer): { answer: RawAnswer; size: number } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const status = Number(statusLine.split(' ')[1]);
  const start = end + 4;
  const length = status === 100 || status === 304 ? 0 : Number(headers['content-length'] ?? 0);
  if (bytes.length < start + length) return null;
  const body = bytes.subarray(start, start + length).toString('utf8');
  return { answer: { status, headers, body }, size: start + length };
}

/** One request on a connection of its own, closed afterwards. */
export async function rawRequest(
  port: number,
  lines: readonly string[],
  body: string | Buffer = '',
): Promise<RawAnswer | null> {
  const client = await RawClient.connect(port);
  try {
    return await client.head(lines).send(body).answer();
  } finally {
    client.destroy();
  }
}
