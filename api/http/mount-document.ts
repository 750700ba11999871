import type { IRouter } from 'express';
import { etagOf } from '../contract/etag.ts';
import { sendCached } from './send-cached.ts';

const CACHE = 'public, max-age=300';

/** Serves a JSON document that changes only with a release, such as `/openapi.json`. */
export function mountDocument(app: IRouter, path: string, text: string): void {
  const bytes = Buffer.from(text);
  const head = { etag: etagOf(bytes), 'cache-control': CACHE, 'x-content-type-options': 'nosniff' };
  app.get(path, (_, res) => sendCached(res, head, { contentType: 'application/json', bytes }));
}

/** The committed document as a running gateway serves it: with the address that callers use. */
export function withServerUrl(documentText: string, publicUrl: string): string {
  const document = JSON.parse(documentText);
  return JSON.stringify({ ...document, servers: [{ url: publicUrl }] });
}
