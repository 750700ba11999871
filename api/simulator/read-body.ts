import type { IncomingMessage } from 'node:http';

export type BodyReading = { state: 'whole'; body: Buffer } | { state: 'too_large' } | { state: 'gone' };

const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Calls back once: with the whole body, or as soon as it is too large or its sender is gone. */
export function readBody(req: IncomingMessage, done: (reading: BodyReading) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let over = false;
  function finish(reading: BodyReading): void {
    if (over) return;
    over = true;
    done(reading);
  }
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) finish({ state: 'too_large' });
    else chunks.push(chunk);
  });
  req.on('end', () =>
    finish({ state: 'whole', body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }),
  );
  req.on('error', () => finish({ state: 'gone' }));
  req.on('close', () => finish({ state: 'gone' }));
}
