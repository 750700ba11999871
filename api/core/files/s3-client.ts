import { Agent, request } from 'undici';
import { type Clock, SECOND_MS, wait } from '../clock.ts';
import { CONNECT_TIMEOUT_MS } from '../limits.ts';
import { readBounded } from '../read-bounded.ts';
import type { Secret } from '../secret.ts';
import { StorageFullError } from './file-store.ts';
import { type S3Request, s3Seconds, signS3Link } from './s3-link.ts';
import { readErrorCode } from './s3-xml.ts';

/** Time and size of an answer of the store. */
const S3_ANSWER_MS = 30 * SECOND_MS;
const S3_ANSWER_BYTES = 4 * 1024 * 1024;
const S3_CONNECTIONS_MAX = 32;
/** Pauses before the same request is sent again. */
export const S3_RETRIES_MS: readonly number[] = [100, 500];

export interface S3Settings {
  /** Where this process reaches the store. Without a trailing slash, like the next. */
  endpoint: string;
  /** Where holders of links reach it. */
  publicEndpoint: string;
  region: string;
  bucket: string;
  accessKeyId: Secret;
  secretAccessKey: Secret;
}

/** Asks an S3 store, and knows its ways to say no. Connections that nobody uses keep no process alive. */
export interface S3Client {
  send(path: string, call: S3Call): Promise<S3Answer>;
}

export interface S3Call extends Pick<S3Request, 'method' | 'headers' | 'query'> {
  body?: Uint8Array | string;
  signal?: AbortSignal;
  /** Of the answer's body. */
  bytesMax?: number;
  /** Until the answer begins. */
  answerMs?: number;
}

export interface S3Answer {
  /** `false`: there is nothing of this name. Whatever else is no success is thrown. */
  found: boolean;
  header(name: string): string;
  body: Buffer;
}

export function createS3Client(settings: S3Settings, clock: Clock): S3Client {
  const dispatcher = new Agent({
    allowH2: false,
    connections: S3_CONNECTIONS_MAX,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });

  async function sendOnce(path: string, call: S3Call): Promise<S3Answer> {
    const { method, headers = {}, query, body = null, signal, bytesMax = S3_ANSWER_BYTES } = call;
    const nowMs = clock.now();
    const url = signS3Link(
      {
        method,
        url: `${settings.endpoint}/${settings.bucket}/${path}`,
        headers,
        ...(query && { query }),
        signedAtMs: nowMs,
        seconds: s3Seconds(nowMs, nowMs + S3_ANSWER_MS + SECOND_MS),
      },
      settings,
    );
    const answer = await request(url, {
      dispatcher,
      method,
      headers,
      body,
      signal: signal ?? null,
      headersTimeout: call.answerMs ?? S3_ANSWER_MS,
      bodyTimeout: S3_ANSWER_MS,
    });
    const status = answer.statusCode;
    const found = status < 300;
    const most = found ? bytesMax : S3_ANSWER_BYTES;
    const bytes = await readBounded(answer.body, most);
    if (bytes === null) throw new S3Refusal(`The S3 store's answer is larger than ${most} bytes.`);
    if (!found) {
      const code = readErrorCode(bytes);
      // A bucket that is not there is an outage: nothing may be taken for deleted.
      if (status !== 404 || code === 'NoSuchBucket') throw refusalOf(status, code);
    }
    const header = (name: string) => String(answer.headers[name] ?? '');
    return { found, header, body: bytes };
  }

  return {
    /** Everything that is asked of a store may be asked twice. */
    async send(path, call) {
      for (const pauseMs of S3_RETRIES_MS) {
        try {
          return await sendOnce(path, call);
        } catch (error) {
          if (call.signal?.aborted || error instanceof S3Refusal || error instanceof StorageFullError)
            throw error;
          await wait(clock, pauseMs);
        }
      }
      return sendOnce(path, call);
    },
  };
}

/** That another attempt would not change. */
class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
}

const FULL_STATUS = 507;
const FULL_CODES = /^(XMinioStorageFull|InsufficientStorage|QuotaExceeded|XMinioAdminBucketQuotaExceeded)$/;

function refusalOf(status: number, code: string): Error {
  const message = `The S3 store answered ${status} (${code}).`;
  if (status === FULL_STATUS || FULL_CODES.test(code)) return new StorageFullError(message);
  return status < 500 && status !== 429 ? new S3Refusal(message) : new Error(message);
}
