import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '#core/clock.ts';
import { StorageFullError } from '#core/files/file-store.ts';
import { S3_RETRIES_MS } from '#core/files/s3-client.ts';
import { createS3FileStore, type S3FileStore } from '#core/files/s3-file-store.ts';
import { S3_PART_BYTES } from '#core/files/s3-upload.ts';
import { Secret } from '#core/secret.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { newName } from './file-home.ts';

type Answer = (req: IncomingMessage, res: ServerResponse) => void;

/** Which step of a write a request is. */
type Step = 'put' | 'begin' | 'part' | 'complete' | 'abort' | 'get' | 'head' | 'delete';

let store: S3FileStore;
let close: () => void;
let steps: Step[];
/** Answers of the next requests of a step, in turn; then the good one. */
let faults: Partial<Record<Step, Answer[]>>;

const stepOf = ({ method, url = '' }: IncomingMessage): Step => {
  const { searchParams } = new URL(url, 'http://s3');
  if (method === 'GET') return 'get';
  if (method === 'HEAD') return 'head';
  if (method === 'DELETE') return searchParams.has('uploadId') ? 'abort' : 'delete';
  if (method === 'POST') return searchParams.has('uploads') ? 'begin' : 'complete';
  return searchParams.has('partNumber') ? 'part' : 'put';
};

const good: Record<Step, Answer> = {
  put: (_, res) => res.end(),
  begin: (_, res) =>
    res.end('<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>'),
  part: (_, res) => res.setHeader('etag', '"e"').end(),
  complete: (_, res) => res.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>'),
  abort: (_, res) => res.writeHead(204).end(),
  get: (_, res) => res.end('bytes'),
  head: (_, res) => res.setHeader('content-length', '5').end(),
  delete: (_, res) => res.writeHead(204).end(),
};

const status =
  (code: number, word = 'Fault'): Answer =>
  (_, res) =>
    res.writeHead(code).end(`<Error><Code>${word}</Code></Error>`);
const cut: Answer = (req) => req.socket.destroy();
const cutInTheMiddle: Answer = (req, res) => {
  res.writeHead(200, { 'content-length': '1000' });
  res.write('<CompleteMulti', () => req.socket.destroy());
};

beforeAll(async () => {
  const server = createServer((req, res) => {
    const step = stepOf(req);
    req.resume().on('end', () => {
      steps.push(step);
      (faults[step]?.shift() ?? good[step])(req, res);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  // Pauses between attempts are over as soon as they begin.
  const clock: Clock = {
    ...createFakeClock(),
    setTimer(_, fire) {
      queueMicrotask(fire);
      return { cancel: () => undefined };
    },
  };
  store = createS3FileStore(
    {
      endpoint,
      publicEndpoint: endpoint,
      region: 'us-east-1',
      bucket: 'bucket',
      accessKeyId: new Secret('id'),
      secretAccessKey: new Secret('secret'),
    },
    clock,
  );
  close = () => {
    server.closeAllConnections();
    server.close();
  };
});

afterAll(() => close());

beforeEach(() => {
  steps = [];
  faults = {};
});

const name = newName(Date.UTC(2026, 10, 24));

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  for (let left = count; left > 0; left -= 1_000_000) yield Buffer.alloc(Math.min(left, 1_000_000), 7);
}

const small = () => store.write(name, bytes(10));
const large = () => store.write(name, bytes(S3_PART_BYTES + 10));

const attempts = S3_RETRIES_MS.length + 1;
const always = (answer: Answer): Answer[] => Array.from({ length: attempts }, () => answer);

describe('a store that fails for a moment is asked again', () => {
  test.each<[string, Answer]>([
    ['500', status(500, 'InternalError')],
    ['503', status(503, 'SlowDown')],
    ['429', status(429)],
    ['no answer', cut],
  ])('after %s, at every step', async (_, fault) => {
    faults = { put: [fault], begin: [fault], part: [fault], complete: [fault] };
    expect(await small()).toMatchObject({ bytes: 10 });
    expect(await large()).toMatchObject({ bytes: S3_PART_BYTES + 10 });
    expect(steps).toEqual([
      ...['put', 'put'],
      ...['begin', 'begin', 'part', 'part', 'part', 'complete', 'complete'],
    ]);
  });
});

describe('a store that fails on leaves nothing of a file', () => {
  test.each<[string, Answer[]]>([
    ['500', always(status(500))],
    ['no answer', always(cut)],
    ['a refusal', [status(403, 'AccessDenied')]],
    ['no such upload', [status(404, 'NoSuchUpload')]],
  ])('%s for a part', async (_, answers) => {
    faults = { part: answers };
    await expect(large()).rejects.toThrow();
    expect(steps.at(-1)).toBe('abort');
    expect(steps).not.toContain('complete');
  });

  test.each<[string, Answer[]]>([
    ['500', always(status(500))],
    ['an answer that breaks off', always(cutInTheMiddle)],
    [
      'a failure that it says after 200',
      always((_, res) => res.end('<Error><Code>InternalError</Code></Error>')),
    ],
    ['a refusal', [status(400, 'InvalidPart')]],
    ['no such upload', [status(404, 'NoSuchUpload')]],
  ])('%s at the end', async (_, answers) => {
    faults = { complete: answers };
    await expect(large()).rejects.toThrow();
    expect(steps.at(-1)).toBe('abort');
  });

  test('and where not even that can be said, the failure is still told', async () => {
    faults = { part: [status(403)], abort: always(status(500)) };
    await expect(large()).rejects.toThrow('403');
  });

  test('an upload without an id', async () => {
    faults = { begin: [(_, res) => res.end('<html>')] };
    await expect(large()).rejects.toThrow('not the id of an upload');
  });
});

describe('a full store', () => {
  test.each([
    [507, 'InsufficientStorage'],
    [507, 'XMinioStorageFull'],
    [403, 'QuotaExceeded'],
  ])('%i %s says so at every step, and is not asked again', async (code, word) => {
    faults = { put: [status(code, word)] };
    await expect(small()).rejects.toBeInstanceOf(StorageFullError);
    for (const step of ['begin', 'part', 'complete'] as const) {
      faults = { [step]: [status(code, word)] };
      await expect(large()).rejects.toBeInstanceOf(StorageFullError);
    }
    expect(steps.filter((step) => step === 'put' || step === 'begin')).toHaveLength(4);
  });
});

describe('what is not there', () => {
  test('is no file, and is deleted already', async () => {
    faults = {
      get: [status(404, 'NoSuchKey')],
      head: [(_, res) => res.writeHead(404).end()],
      delete: [status(404)],
    };
    expect(await store.read(name, 10)).toBeNull();
    expect(await store.size(name)).toBeNull();
    await store.delete(name);
  });

  test('but a bucket that is not there is an outage', async () => {
    faults = { get: [status(404, 'NoSuchBucket')], put: [status(404, 'NoSuchBucket')] };
    await expect(store.read(name, 10)).rejects.toThrow('NoSuchBucket');
    await expect(small()).rejects.toThrow('NoSuchBucket');
  });

  const noBucket = '<Error><Code>NoSuchBucket</Code>';
  test.each([
    ['wrapped', `<ErrorResponse>${noBucket}</Error></ErrorResponse>`],
    ['cut off behind its code', `<?xml version="1.0"?>${noBucket}<Mess`],
  ])('also where the error is %s', async (_, body) => {
    faults = { get: [(_req, res) => res.writeHead(404).end(body)] };
    await expect(store.read(name, 10)).rejects.toThrow('NoSuchBucket');
  });

  test('nor is a refusal taken for a missing file', async () => {
    faults = { get: [status(403, 'AccessDenied')], head: [status(403)] };
    await expect(store.read(name, 10)).rejects.toThrow('403');
    await expect(store.size(name)).rejects.toThrow('403');
  });
});

test('no error says a key, a link or what was stored', async () => {
  faults = {
    put: [
      (_, res) =>
        res.writeHead(403).end(`<Error><Code>Denied</Code><AWSAccessKeyId>id</AWSAccessKeyId></Error>`),
    ],
  };
  await expect(small()).rejects.toThrow('The S3 store answered 403 (Denied).');
});
