import { AwsV4Signer } from 'aws4fetch';
import { Agent, request } from 'undici';
import { type Clock, isoTime, SECOND_MS } from '../clock.ts';
import { limitTasks } from '../limit-tasks.ts';
import { CONNECT_TIMEOUT_MS, S3_ANSWER_BYTES, S3_ANSWER_MS, S3_DELETES_AT_ONCE } from '../limits.ts';
import type { Secret } from '../secret.ts';
import { fileKinds, formatFileName, hasEnded, parseFileName } from './file-name.ts';
import type { FileStore } from './file-store.ts';

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

export interface S3FileStore extends FileStore {
  kind: 's3';
  /** Where every link leads to: scheme, host and port. */
  linkOrigin: string;
}

/** Any store that speaks S3, addressed by path, because its certificate seldom names a host for each bucket. */
export function createS3FileStore(settings: S3Settings, clock: Clock): S3FileStore {
  const { endpoint, publicEndpoint, region, bucket } = settings;

  /** As a link: whoever has it may send this one request, with these headers, until then. */
  async function sign(from: string, path: string, { method, headers = {}, query = {}, untilMs }: Signed) {
    const url = new URL(`${from}/${bucket}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signedAtMs = clock.now() - (clock.now() % SECOND_MS);
    url.searchParams.set('X-Amz-Expires', String(Math.floor((untilMs - signedAtMs) / SECOND_MS)));
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers,
      accessKeyId: settings.accessKeyId.reveal(),
      secretAccessKey: settings.secretAccessKey.reveal(),
      service: 's3',
      region,
      datetime: isoTime(signedAtMs).replaceAll(/[-:]|\.\d+/g, ''),
      signQuery: true,
      // Type and length would be left out, and the store take any.
      allHeaders: true,
    });
    return (await signer.sign()).url.href;
  }

  async function send(path: string, { method, query = {}, ...by }: Sent): Promise<string> {
    const untilMs = clock.now() + S3_ANSWER_MS + SECOND_MS;
    const answer = await request(await sign(endpoint, path, { method, query, untilMs }), {
      method,
      ...by,
    });
    const text = await readText(answer.body);
    // One that is gone already was deleted by another process.
    if (answer.statusCode < 300 || (method === 'DELETE' && answer.statusCode === 404)) return text;
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no code';
    throw new Error(`The S3 store answered ${answer.statusCode} (${code}).`);
  }

  /** By name, so by time: the oldest first. */
  async function deleteEndedOf(kind: string, nowMs: number, by: SentBy): Promise<void> {
    const inTurn = limitTasks(S3_DELETES_AT_ONCE);
    for (let after = ''; ; ) {
      const query = {
        'list-type': '2',
        prefix: `${kind}/`,
        ...(after === '' ? {} : { 'start-after': after }),
      };
      const page = await send('', { method: 'GET', query, ...by });
      const names = [...page.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key);
      // What somebody else put here is not touched.
      const ended = names.filter((name) => hasEnded(parseFileName(name)?.endHour ?? '', nowMs));
      await Promise.all(ended.map((name) => inTurn(() => send(name, { method: 'DELETE', ...by }))));
      after = names.at(-1) ?? '';
      const live = parseFileName(after) !== null && ended.at(-1) !== after;
      if (live || after === '' || !page.includes('<IsTruncated>true<')) return;
    }
  }

  return {
    kind: 's3',
    linkOrigin: new URL(publicEndpoint).origin,
    async putLink(name, bytes, untilMs) {
      // The second is what makes the store refuse a second PUT.
      const headers = { 'Content-Type': name.contentType, 'If-None-Match': '*' };
      const signed = {
        method: 'PUT',
        headers: { ...headers, 'Content-Length': String(bytes) },
        untilMs,
      } as const;
      return { url: await sign(publicEndpoint, formatFileName(name), signed), headers };
    },
    getLink: (name, untilMs) => sign(publicEndpoint, formatFileName(name), { method: 'GET', untilMs }),
    async deleteEnded(nowMs, signal) {
      const dispatcher = new Agent({
        allowH2: false,
        connections: S3_DELETES_AT_ONCE,
        connect: { timeout: CONNECT_TIMEOUT_MS },
        headersTimeout: S3_ANSWER_MS,
        bodyTimeout: S3_ANSWER_MS,
      });
      try {
        for (const kind of fileKinds) await deleteEndedOf(kind, nowMs, { dispatcher, signal });
      } finally {
        await dispatcher.destroy();
      }
    },
  };
}

interface Signed {
  method: 'GET' | 'PUT' | 'DELETE';
  headers?: Record<string, string>;
  query?: Record<string, string>;
  untilMs: number;
}

interface SentBy {
  dispatcher: Agent;
  signal: AbortSignal;
}

type Sent = Pick<Signed, 'method' | 'query'> & SentBy;

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > S3_ANSWER_BYTES)
      throw new Error(`The S3 store's answer is larger than ${S3_ANSWER_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
