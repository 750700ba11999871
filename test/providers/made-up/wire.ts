import type { ProviderWire } from '../provider-contract.ts';
import { madeUp } from './kind.ts';

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** What servers of the made-up kind read and write. */
export const madeUpWire: ProviderWire = {
  kind: madeUp,
  format: 'chat',
  readRequest: ({ path, headers, body }) => ({
    model: decodeURIComponent(/^\/parlours\/([^:]+):/.exec(path)?.[1] ?? ''),
    key: String(headers['x-parlour-token']),
    prompt: (body.talk as { says: string }[]).map(({ says }) => says).join(' '),
    stream: path.endsWith(':chat'),
  }),
  answer: (text, usage) =>
    JSON.stringify({ reply: text, ...(usage && { meter: { in: usage.prompt, out: usage.completion } }) }),
  stream: (pieces, usage) => [
    ...pieces.map((piece) => line({ piece })),
    line({ over: true, ...(usage && { meter: { in: usage.prompt, out: usage.completion } }) }),
  ],
  streamType: 'application/x-ndjson',
  error: (words) => JSON.stringify({ problem: { kind: 'unhappy', words } }),
};
