import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { IRouter, Request, Response } from 'express';
import { hasEtag } from './has-etag.ts';

/** A file that is read once and kept in memory. */
export interface StaticFile {
  /** The whole path of its address, such as `/console/app.css`. */
  path: string;
  contentType: string;
  bytes: Buffer;
}

/**
 * Serves these files and no other. A browser may keep them but has to ask each time, so that after an upgrade no page
 * is made of two releases.
 */
export function mountStaticFiles(
  app: IRouter,
  files: readonly StaticFile[],
  headers: Readonly<Record<string, string>>,
): void {
  for (const { path, contentType, bytes } of files) {
    const etag = etagOf(bytes);
    const plain: Version = { bytes, etag: `"${etag}"`, encoding: {} };
    const packs = !isPacked(contentType);
    // Made when the first browser asks: most starts of a gateway are followed by none.
    let zipped: Version | null = null;
    const versionFor = (req: Request): Version => {
      if (!packs || !takesGzip(req.headers['accept-encoding'])) return plain;
      zipped ??= { bytes: gzipSync(bytes), etag: `"${etag}.gz"`, encoding: { 'content-encoding': 'gzip' } };
      return zipped;
    };
    app.get(path, (req: Request, res: Response) => {
      const version = versionFor(req);
      const head = {
        ...headers,
        etag: version.etag,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        ...(packs ? { vary: 'accept-encoding' } : {}),
      };
      if (hasEtag(req, version.etag)) {
        res.writeHead(304, head).end();
        return;
      }
      res.writeHead(200, {
        ...head,
        ...version.encoding,
        'content-type': contentType,
        'content-length': String(version.bytes.length),
      });
      res.end(version.bytes);
    });
  }
}

interface Version {
  bytes: Buffer;
  etag: string;
  encoding: Record<string, string>;
}

const etagOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url').slice(0, 22);

/** Fonts of the web are compressed already. */
const isPacked = (contentType: string): boolean => contentType.startsWith('font/');

/** `gzip;q=0` says that it does not. */
const takesGzip = (header = ''): boolean =>
  header.split(',').some((each) => {
    const [coding, weight = ''] = each.split(';').map((part) => part.trim());
    return coding === 'gzip' && !/^q=0(\.0*)?$/.test(weight);
  });
