import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { IRouter, Request, Response } from 'express';
import { etagOf } from '../contract/etag.ts';
import { sendCached } from './send-cached.ts';

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

/** The headers of pages that load nothing but our own, and stand in no frame. `sources`: what the policy allows besides. */
export const pageHeaders = (...sources: readonly string[]): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    ...sources,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
});

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
      const { bytes, etag, encoding } = await (packs && req.acceptsEncodings('gzip') ? zipped : plain)();
      const head = { etag, 'cache-control': cacheControl, ...(packs ? { vary: 'accept-encoding' } : {}) };
      sendCached(res, head, { contentType, bytes, encoding });
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

const toPlain = (bytes: Buffer): Version => ({ bytes, etag: etagOf(bytes), encoding: {} });

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

/** Fonts of the web are compressed already. */
const isPacked = (contentType: string): boolean => contentType.startsWith('font/');

/** Where npm has put a package of which files are served to browsers. */
export function packageFolder(name: string): string {
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`The package ${name} is not installed; a web page needs it.`);
  return dirname(manifest);
}
