import { connect } from 'node:net';

export interface Answer {
  /** 0: the connection ended before the answer did. */
  status: number;
  isExpected: boolean;
}

/** One request after the other. */
export interface HttpConnection {
  ask(request: Buffer): Promise<Answer>;
  isOpen(): boolean;
  close(): void;
}

const READ_BYTES = 65_536;
const HEAD_END = '\r\n\r\n';

/**
 * A client for answers with a `content-length` that have `expected` in one piece of what is read, into the same memory each
 * time. A whole client takes 95 us for an answer of 26 KB, most of it for fresh memory: two thirds of the time the server
 * that is measured would idle, which makes each answer half as dear again.
 */
export function openHttpConnection(origin: string, expected: string): HttpConnection {
  const { hostname, port } = new URL(origin);
  let answered: ((answer: Answer) => void) | null = null;
  let head = '';
  let status = 0;
  let missingBytes = 0;
  let isExpected = false;
  let isClosed = false;

  function take(bytes: Buffer): void {
    let body = bytes;
    if (status === 0) {
      const end = bytes.indexOf(HEAD_END);
      head += bytes.toString('latin1', 0, end === -1 ? bytes.length : end);
      if (end === -1) return;
      status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      missingBytes = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
      head = '';
      body = bytes.subarray(end + HEAD_END.length);
    }
    isExpected ||= body.includes(expected);
    missingBytes -= body.length;
    // Of an answer of no stated length nobody knows the end.
    if (missingBytes === 0) end();
    else if (!(missingBytes > 0)) socket.destroy();
  }

  function end(): void {
    const answer = { status, isExpected };
    status = 0;
    isExpected = false;
    answered?.(answer);
  }

  const socket = connect({
    ...{ host: hostname, port: Number(port), noDelay: true },
    onread: {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback(size, buffer) {
        take((buffer as Buffer).subarray(0, size));
        return true;
      },
    },
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    answered?.({ status: 0, isExpected: false });
  });
  return {
    ask: (request) =>
      new Promise((resolve) => {
        answered = resolve;
        if (isClosed) resolve({ status: 0, isExpected: false });
        else socket.write(request);
      }),
    isOpen: () => !isClosed,
    close: () => socket.destroy(),
  };
}
