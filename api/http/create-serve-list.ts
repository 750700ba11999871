import type { ServerResponse } from 'node:http';
import { etagOf } from '../contract/etag.ts';
import { sendCached } from './send-cached.ts';

interface ListOptions<M> {
  /** The same array for as long as nothing changes. */
  read: () => readonly M[];
  shape: (models: readonly M[]) => object;
  /** Of a list with something in it. */
  cacheControl: string;
}

/** The same list is written once, whoever asks, and sent once to a client that says which it has. */
export function createServeList<M>({ read, shape, cacheControl }: ListOptions<M>) {
  let written: { models: readonly M[]; bytes: Buffer; etag: string } | null = null;

  return (res: ServerResponse, headers: Record<string, string>): void => {
    const models = read();
    if (written === null || written.models !== models) {
      const bytes = Buffer.from(JSON.stringify(shape(models)));
      written = { models, bytes, etag: etagOf(bytes) };
    }
    const { bytes, etag } = written;
    // An empty one may be full in a second: just after a start.
    const head = { ...headers, etag, 'cache-control': models.length === 0 ? 'no-cache' : cacheControl };
    sendCached(res, head, { contentType: 'application/json', bytes });
  };
}
