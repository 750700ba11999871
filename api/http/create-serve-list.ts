import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { hasEtag } from './has-etag.ts';

interface ListOptions<M> {
  /** The same array for as long as nothing changes. */
  read: () => readonly M[];
  shape: (models: readonly M[]) => object;
  /** Of a list with something in it. */
  cacheControl: string;
}

/** The same list is written once, whoever asks, and sent once to a client that says which it has. */
export function createServeList<M>({ read, shape, cacheControl }: ListOptions<M>) {
  let written: { models: readonly M[]; body: Buffer; etag: string } | null = null;

  return (res: ServerResponse, headers: Record<string, string>): void => {
    const models = read();
    if (written === null || written.models !== models) {
      const body = Buffer.from(JSON.stringify(shape(models)));
      written = {
        models,
        body,
        etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
      };
    }
    const { body, etag } = written;
    // An empty one may be full in a second: just after a start.
    const head = { ...headers, etag, 'cache-control': models.length === 0 ? 'no-cache' : cacheControl };
    if (hasEtag(res.req, etag)) {
      res.writeHead(304, head).end();
      return;
    }
    res
      .writeHead(200, { ...head, 'content-type': 'application/json', 'content-length': String(body.length) })
      .end(body);
  };
}
