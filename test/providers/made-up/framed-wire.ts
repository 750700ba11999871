import type { IncomingHttpHeaders } from 'node:http';
import { CONTRACT_KEY, type ProviderWire } from '../provider-contract.ts';
import { framed, signatureOf } from './framed-kind.ts';

/** One frame of a stream, as the made-up kind with a format of its own sends it. */
export function frame(value: object): string {
  const json = JSON.stringify(value);
  const length = Buffer.byteLength(json);
  return String.fromCharCode(length >> 7, length & 127) + json;
}

const isSigned = (headers: IncomingHttpHeaders, signed: string): boolean =>
  headers['x-house'] === 'globe' && headers['x-signature'] === signatureOf(CONTRACT_KEY, signed);

/** What servers of that kind read and write. */
export const framedWire: ProviderWire = {
  kind: framed,
  settings: { house: 'globe' },
  format: 'chat',
  alwaysStreams: true,
  readRequest: ({ path, headers, body }) => ({
    model: decodeURIComponent(path.replace('/stages/', '')),
    key: isSigned(headers, `POST ${path} ${JSON.stringify(body)}`) ? CONTRACT_KEY : 'wrong',
    prompt: (body.play as { says: string[] }[]).flatMap(({ says }) => says).join(' '),
    stream: true,
  }),
  answer: (text, usage) => framedWire.stream([text], usage).join(''),
  stream: (pieces, usage) => [
    ...pieces.map((say) => frame({ say })),
    frame({ close: true, ...(usage && { count: [usage.prompt, usage.completion] }) }),
  ],
  streamType: 'application/x-frames',
  error: (fault) => JSON.stringify({ fault }),
};
