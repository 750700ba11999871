import { createHash } from 'node:crypto';
import type { IRouter, Request, Response } from 'express';
import { hasEtag } from './has-etag.ts';

const CACHE = 'public, max-age=300';

/** Serves a JSON document that changes only with a release, such as `/openapi.json`. */
export function mountDocument(app: IRouter, path: string, text: string): void {
  const bytes = Buffer.from(text);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  app.get(path, (req: Request, res: Response) => {
    const head = { etag, 'cache-control': CACHE, 'x-content-type-options': 'nosniff' };
    if (hasEtag(req, etag)) {
      res.writeHead(304, head).end();
      return;
    }
    res.writeHead(200, {
      ...head,
      'content-type': 'application/json',
      'content-length': String(bytes.length),
    });
    res.end(bytes);
  });
}

/** The committed document as a running gateway serves it: with the address that callers use. */
export function withServerUrl(documentText: string, publicUrl: string): string {
  const document = JSON.parse(documentText);
  return JSON.stringify({ ...document, servers: [{ url: publicUrl }] });
}
