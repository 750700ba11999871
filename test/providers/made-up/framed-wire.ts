import type { IncomingHttpHeaders } from 'node:http';
import { CONTRACT_KEY, type ProviderWire, type WireUsage } from '../provider-contract.ts';
import { framed, LENGTH_BYTES, signatureOf } from './framed-kind.ts';

/** One frame of a stream, as the made-up kind with a format of its own sends it. */
export function frame(value: object): Buffer {
  const json = Buffer.from(JSON.stringify(value));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
}

const isSigned = (headers: IncomingHttpHeaders, signed: string): boolean =>
  headers['x-house'] === 'globe' && headers['x-signature'] === signatureOf(CONTRACT_KEY, signed);

function framesOf(pieces: readonly string[], usage: WireUsage | null): Buffer[] {
  const end = frame({ close: true, ...(usage && { count: [usage.prompt, usage.completion] }) });
  return [...pieces.map((say) => frame({ say })), end];
}

/** What servers of that kind read and write. */
export const framedWire: ProviderWire = {
  kind: framed,
  settings: { house: 'globe' },
  format: 'chat',
  alwaysStreams: true,
  readRequest: ({ path, headers, body, bytes }) => ({
    model: decodeURIComponent(path.replace('/stages/', '')),
    key: isSigned(headers, `POST ${path} ${bytes}`) ? CONTRACT_KEY : 'wrong',
    prompt: (body.play as { says: string[] }[]).flatMap(({ says }) => says).join(' '),
    stream: true,
  }),
  answer: (text, usage) => Buffer.concat(framesOf([text], usage)),
  stream: framesOf,
  streamType: 'application/x-frames',
  error: (fault) => JSON.stringify({ fault }),
};
