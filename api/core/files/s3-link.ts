import { createHash, createHmac } from 'node:crypto';
import { isoTime, SECOND_MS } from '../clock.ts';
import type { Secret } from '../secret.ts';

/** One request to an S3 store: whoever has its link may send it, with these headers, until then. */
export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Scheme, host, bucket and path. */
  url: string;
  /** Under the signature, so that the store takes no others. */
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  signedAtMs: number;
  seconds: number;
}

export interface S3Keys {
  region: string;
  accessKeyId: Secret;
  secretAccessKey: Secret;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Signature version 4 in the query. The same request always makes the same link. */
export function signS3Link(request: S3Request, { region, accessKeyId, secretAccessKey }: S3Keys): string {
  const url = new URL(request.url);
  const time = s3Time(request.signedAtMs);
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const headers = Object.entries({ ...request.headers, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const signedHeaders = headers.map(([name]) => name).join(';');
  const query = Object.entries({
    ...request.query,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${accessKeyId.reveal()}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(request.seconds),
    'X-Amz-SignedHeaders': signedHeaders,
  })
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const canonical = [
    request.method,
    url.pathname,
    query,
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    signedHeaders,
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const text = [ALGORITHM, time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = [time.slice(0, 8), region, 's3', 'aws4_request'].reduce(
    (secret: string | Buffer, word) => createHmac('sha256', secret).update(word).digest(),
    `AWS4${secretAccessKey.reveal()}`,
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  return `${url.origin}${url.pathname}?${query}&X-Amz-Signature=${signature}`;
}

/** `null`: when a link was signed, and for how long, stands in no way in which ours say it. */
export function readS3Times(query: string): { signedAtMs: number; seconds: number } | null {
  const [, year, month, day, hour, minute, second] =
    /(?:^|&)X-Amz-Date=(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:&|$)/.exec(query) ?? [];
  const [, seconds] = /(?:^|&)X-Amz-Expires=([1-9]\d{0,6})(?:&|$)/.exec(query) ?? [];
  const signedAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(signedAtMs) || seconds === undefined ? null : { signedAtMs, seconds: Number(seconds) };
}

/** Whole seconds, as a signature has them. */
export const s3Seconds = (fromMs: number, untilMs: number): number =>
  Math.floor((untilMs - wholeSecond(fromMs)) / SECOND_MS);

const wholeSecond = (atMs: number): number => atMs - (atMs % SECOND_MS);
const s3Time = (atMs: number): string => isoTime(wholeSecond(atMs)).replaceAll(/[-:]|\.\d+/g, '');

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
