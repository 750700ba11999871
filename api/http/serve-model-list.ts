import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Catalog, Model } from '#core/catalog/catalog.ts';
import { shapeModelList } from '../contract/model-list.ts';
import { hasEtag } from './has-etag.ts';

/** The same list is written once, whoever asks, and sent once to a client that says which it has. */
export function createServeModelList(catalog: Catalog) {
  let written: { models: readonly Model[]; body: Buffer; etag: string } | null = null;

  return (res: ServerResponse, headers: Record<string, string>): void => {
    const models = catalog.models();
    if (written === null || written.models !== models) {
      const body = Buffer.from(JSON.stringify(shapeModelList(models)));
      written = {
        models,
        body,
        etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
      };
    }
    const { body, etag } = written;
    // The client may keep it, but has to ask each time: prices change.
    const head = { ...headers, etag, 'cache-control': 'private, no-cache' };
    if (hasEtag(res.req.headers['if-none-match'], etag)) {
      res.writeHead(304, head).end();
      return;
    }
    res
      .writeHead(200, { ...head, 'content-type': 'application/json', 'content-length': String(body.length) })
      .end(body);
  };
}
