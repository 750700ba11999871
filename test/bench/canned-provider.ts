import { createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import type { FormatName } from '#core/catalog/catalog.ts';
import {
  benchModels,
  type CannedAnswer,
  cannedAnswers,
  firstByteDelays,
  ID_DIGITS,
  lookedUp,
  PACE_MS,
  SLOW_PACE_MS,
} from './canned-answers.ts';

/**
 * The provider of the bench: a process of its own that only looks at a request's length, model and `stream`, and
 * writes ready-made bytes. A full HTTP server here would take from the load its share of the second core.
 */
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

let calls = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let waiting: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => {
    waiting = waiting.length === 0 ? data : Buffer.concat([waiting, data]);
    for (let request = takeRequest(); request !== null; request = takeRequest()) answer(socket, request);
  });

  /** The first whole request that waits. */
  function takeRequest(): Request | null {
    const headEnd = waiting.indexOf(HEAD_END);
    if (headEnd === -1) return null;
    const head = waiting.toString('latin1', 0, headEnd + 2);
    const isLookUp = head.startsWith('GET ') && head.includes('/generation?');
    const length = isLookUp ? '0' : LENGTH.exec(head)?.[1];
    if (length === undefined) {
      socket.destroy(new Error('The canned provider needs a content-length'));
      return null;
    }
    const start = headEnd + HEAD_END.length;
    const end = start + Number(length);
    if (waiting.length < end) return null;
    const body = waiting.subarray(start, end);
    waiting = waiting.subarray(end);
    return { format: formatOf(head), isLookUp, body };
  }
});

interface Request {
  format: FormatName;
  /** Of what an answer cost whose reader went away. */
  isLookUp: boolean;
  body: Buffer;
}

function formatOf(head: string): FormatName {
  const path = head.slice(0, head.indexOf('\r\n'));
  if (path.includes('/responses')) return 'responses';
  return path.includes('/messages') ? 'messages' : 'chat';
}

function answer(socket: Socket, { format, isLookUp, body }: Request): void {
  if (isLookUp) {
    socket.write(lookedUp);
    return;
  }
  const streams = body.includes('"stream":true');
  const { json, stream } = cannedAnswers[format];
  const answers = streams ? stream : json;
  const canned = answers[calls % answers.length];
  if (canned === undefined) return;
  calls += 1;
  const head = Buffer.from(canned.head);
  head.write(String(calls).padStart(ID_DIGITS, '0'), canned.idAt, 'latin1');
  if (body.includes(benchModels.slow)) void writePaced(socket, head, canned, SLOW_PACE_MS);
  else if (body.includes(benchModels.paced)) void writePaced(socket, head, canned, PACE_MS);
  else {
    const delay = firstByteDelays.find(({ model }) => body.includes(model));
    if (delay === undefined) writeAll(socket, head, canned);
    else setTimeout(() => writeAll(socket, head, canned), delay.delayMs);
  }
}

function writeAll(socket: Socket, head: Buffer, { parts }: CannedAnswer): void {
  socket.write(Buffer.concat([head, ...parts]));
}

async function writePaced(
  socket: Socket,
  head: Buffer,
  { parts }: CannedAnswer,
  paceMs: number,
): Promise<void> {
  socket.write(head);
  for (const part of parts) {
    if (socket.destroyed) return;
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, paceMs));
  }
}

server.listen(Number(values.port), '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
process.once('SIGTERM', () => process.exit(0));
