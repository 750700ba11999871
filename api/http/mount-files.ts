import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { IRouter, Request, Response } from 'express';
import { type Clock, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { downloadNameOf, type FileName, formatFileName, parseFileName } from '#core/files/file-name.ts';
import type { LocalFileStore } from '#core/files/local-file-store.ts';
import type { Log } from '#core/log.ts';
import { type FileError, fileErrors } from '../contract/file-errors.ts';
import { ownDeadline } from './broken-request.ts';
import { sendJson } from './send-json.ts';

/** Time for one PUT into the local folder: 20 MB on a line of 300 kbit/s. */
export const UPLOAD_BODY_MS = 10 * MINUTE_MS;

export interface FilesEdge {
  files: LocalFileStore;
  clock: Clock;
  log: Log;
}

const BASE = '/files';

/**
 * The local home of files as an S3 store would be: outside of the API, without a key, opened by links alone. Any page may
 * send and show a file; none can be made to run one, whatever its bytes are.
 */
export function mountFiles(app: IRouter, edge: FilesEdge): void {
  app.use(BASE, (req, res, next) => {
    const [path = '', ...query] = req.originalUrl.slice(BASE.length + 1).split('?');
    const name = parseFileName(path);
    if (name === null || name.kind === 'orders') {
      next();
      return;
    }
    for (const [header, value] of Object.entries(everyAnswer)) res.setHeader(header, value);
    serve(edge, { req, res, name, query: query.join('?') }).catch((error: unknown) => {
      edge.log.error('file not served', { error });
      refuse(res, 'storage_failed');
    });
  });
}

const METHODS = 'GET, HEAD, PUT, OPTIONS';

const everyAnswer = {
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;

interface FileRequest {
  req: Request;
  res: Response;
  name: FileName;
  query: string;
}

async function serve(edge: FilesEdge, request: FileRequest): Promise<void> {
  const { req, res, name, query } = request;
  switch (req.method) {
    case 'OPTIONS':
      res
        .writeHead(204, {
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': 'content-type, range',
          'access-control-max-age': '86400',
        })
        .end();
      return;
    case 'GET':
    case 'HEAD':
    case 'PUT':
      break;
    default:
      res.setHeader('allow', METHODS);
      refuse(res, 'method_not_allowed');
      return;
  }
  const link = edge.files.checkLink(req.method === 'PUT' ? 'PUT' : 'GET', name, query);
  if (!link.ok) refuse(res, link.reason === 'expired' ? 'link_expired' : 'link_refused');
  else if (link.grant.method === 'PUT') await take(edge, request, link.grant.bytes);
  else await give(edge, request, link.untilMs);
}

async function take({ files, clock }: FilesEdge, { req, res, name }: FileRequest, bytes: number) {
  const refused = checkHead(req, name, bytes);
  if (refused !== null) return refuse(res, refused, { bytes, contentType: name.contentType });
  if ((await files.size(name)) !== null) return refuse(res, 'already_uploaded');
  // Only now: who waits for it sends nothing that would be refused.
  if (req.headers.expect !== undefined) res.writeContinue();
  const cut = () => void req.destroy();
  const timer = clock.setTimer(UPLOAD_BODY_MS, cut);
  const release = ownDeadline(req);
  try {
    // An answer has to be possible after the disk has failed.
    const chunks = req.iterator({ destroyOnReturn: false });
    const received = await files.receive(name, bytes, { chunks, cut });
    if (received === 'taken') refuse(res, 'already_uploaded');
    if (received === 'stored') res.writeHead(200, { etag: etagOf(name), 'content-length': '0' }).end();
  } finally {
    release();
    timer.cancel();
  }
}

function checkHead({ headers }: IncomingMessage, name: FileName, bytes: number): FileError | null {
  const length = headers['content-length'];
  if (headers['content-type']?.trim().toLowerCase() !== name.contentType) return 'wrong_type';
  if (headers['content-encoding'] !== undefined) return 'wrong_encoding';
  if (length === undefined) return 'length_required';
  return Number(length) === bytes ? null : 'wrong_size';
}

/** What was stored under a name never changes. */
const etagOf = ({ id }: FileName): string => `"${id}"`;

function give({ files, clock }: FilesEdge, { res, name }: FileRequest, untilMs: number): Promise<void> {
  const seconds = Math.floor((untilMs - clock.now()) / SECOND_MS);
  res.setHeader('content-type', name.contentType);
  res.setHeader('etag', etagOf(name));
  const downloadName = downloadNameOf(name);
  if (downloadName !== null) {
    res.setHeader('content-disposition', `attachment; filename="${downloadName}"`);
  }
  return new Promise((resolve, reject) => {
    // Of an answer that waits for its turn nobody else closes the file when the connection ends.
    res.once('pipe', (file: Readable) => res.once('close', () => resolve(void file.destroy())));
    const options = {
      root: files.folder,
      cacheControl: false,
      headers: { 'cache-control': `private, max-age=${seconds}, immutable` },
    };
    res.sendFile(formatFileName(name), options, (error?: SendError) => {
      if (error === undefined || error === null || res.headersSent || res.destroyed) resolve();
      else if (error.status === 404) resolve(refuse(res, 'not_uploaded'));
      else if (error.status === 416) {
        res.setHeader('content-range', error.headers?.['Content-Range'] ?? '');
        resolve(refuse(res, 'range_not_satisfiable'));
      } else if (error.status === 412) resolve(refuse(res, 'precondition_failed'));
      else reject(error);
    });
  });
}

interface SendError extends Error {
  status?: number;
  headers?: Record<string, string>;
}

function refuse(res: Response, code: FileError, wanted: { bytes?: number; contentType?: string } = {}): void {
  if (res.headersSent) return void res.destroy();
  const { status, message } = fileErrors[code];
  const text = message.replace('{bytes}', String(wanted.bytes)).replace('{type}', String(wanted.contentType));
  // What was not given may be a moment later.
  res.setHeader('cache-control', everyAnswer['cache-control']);
  res.removeHeader('etag');
  res.removeHeader('content-type');
  res.removeHeader('content-disposition');
  sendJson(res, status, status === 503 ? { 'retry-after': '2' } : {}, { error: { code, message: text } });
}
