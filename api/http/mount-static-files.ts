import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { IRouter, Request, Response } from 'express';
import { hasEtag } from './has-etag.ts';

interface FileFacts {
  /** The whole path of its address, such as `/console/app.css`. */
  path: string;
  contentType: string;
  /** Its path names its version: a browser that has it never asks again. */
  immutable?: true;
}

/** A file that is read once and kept in memory. */
export interface StaticFile extends FileFacts {
  bytes: Buffer;
}

/** A file of which nothing is in memory before somebody asks for it. */
export interface LazyFile extends FileFacts {
  read: () => Promise<Buffer>;
}

/** What stands below a path: its files, and the headers of every answer there, that something is not there included. */
export interface StaticSite {
  root: string;
  files: readonly (StaticFile | LazyFile)[];
  headers: Readonly<Record<string, string>>;
}

/**
 * Serves these files and no other. A browser may keep them but has to ask each time, so that after an upgrade no page
 * is made of two releases.
 */
export function mountStaticFiles(app: IRouter, { root, files, headers }: StaticSite): void {
  app.use(root, (_, res, next) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    res.setHeader('x-content-type-options', 'nosniff');
    next();
  });
  for (const file of files) {
    const { path, contentType } = file;
    const cacheControl = file.immutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
    const packs = !isPacked(contentType);
    const plain = once(async () => toPlain('read' in file ? await file.read() : file.bytes));
    // Made when the first browser asks: most starts of a gateway are followed by none.
    const zipped = once(async () => toZipped(await plain()));
    app.get(path, async (req: Request, res: Response) => {
      const version = await (packs && takesGzip(req.headers['accept-encoding']) ? zipped : plain)();
      const head = {
        etag: version.etag,
        'cache-control': cacheControl,
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

/** What HTTP calls for ever. */
const YEAR_SECONDS = 31_536_000;

interface Version {
  bytes: Buffer;
  etag: string;
  encoding: Record<string, string>;
}

const toPlain = (bytes: Buffer): Version => ({ bytes, etag: `"${etagOf(bytes)}"`, encoding: {} });

/** Beside the event loop: the largest file takes 60 ms, for which no stream may stand still. */
const toZipped = async ({ bytes, etag }: Version): Promise<Version> => ({
  bytes: await promisify(gzip)(bytes),
  etag: `${etag.slice(0, -1)}.gz"`,
  encoding: { 'content-encoding': 'gzip' },
});

/** A failure is not kept: the next who asks tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
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
