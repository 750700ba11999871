import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { load, mistakes } from './support.ts';

const S3 = `
files:
  kind: s3
  endpoint: http://minio:9000/
  bucket: faregate-files
  accessKeyIdEnv: S3_ID
  secretAccessKeyFile: /s3-secret
`;
const ENV = { S3_ID: 'the-id' };
const FILES = { '/s3-secret': 'the/secret+key=\n' };

const CLUSTER = `
storage:
  mode: cluster
  redis: { urls: [redis://redis:6379] }
  kafka: { brokers: [kafka:9092] }
  cassandra: { contactPoints: [cassandra:9042] }
  keyPepper: { id: a, secretFile: /pepper }
admin: { tokenFile: /token }
`;
const CLUSTER_FILES = { ...FILES, '/pepper': `${'o'.repeat(43)}=\n`, '/token': `${'t'.repeat(32)}\n` };

test('one process keeps files in its data folder', async () => {
  for (const yaml of ['{}', 'files: {}', 'files: { kind: local }']) {
    expect((await load(yaml)).files).toEqual({ kind: 'local' });
  }
});

test('an S3 store is read with its keys, and never prints them', async () => {
  const { files } = await load(S3, ENV, FILES);
  if (files.kind !== 's3') throw new Error('no S3 store');
  const { accessKeyId, secretAccessKey, ...others } = files;
  expect([accessKeyId.reveal(), secretAccessKey.reveal()]).toEqual(['the-id', 'the/secret+key=']);
  expect(others).toEqual({
    kind: 's3',
    endpoint: 'http://minio:9000',
    publicEndpoint: 'http://minio:9000',
    region: 'us-east-1',
    bucket: 'faregate-files',
  });
  expect(inspect(files) + JSON.stringify(files)).not.toContain('the/secret');
});

test('agents may reach it by another address, and it may be in another region', async () => {
  const { files } = await load(
    `${S3}  publicEndpoint: https://files.example.com\n  region: eu-central-1\n`,
    ENV,
    FILES,
  );
  expect(files).toMatchObject({ publicEndpoint: 'https://files.example.com', region: 'eu-central-1' });
});

test('a cluster keeps files in an S3 store, or none, which is said at the start', async () => {
  expect((await load(CLUSTER + S3, ENV, CLUSTER_FILES)).files.kind).toBe('s3');
  const { files, notices } = await load(CLUSTER, ENV, CLUSTER_FILES);
  expect(files).toEqual({ kind: 'none' });
  expect(notices).toEqual([expect.stringContaining('Uploads are refused')]);
  expect(await mistakes(`${CLUSTER}files: { kind: local }\n`, ENV, CLUSTER_FILES)).toEqual([
    '9:16 files.kind: cannot be local in a cluster: each process would keep files of its own; write s3',
  ]);
});

test('whoever wants no files says so, in either mode, and is told nothing', async () => {
  for (const [yaml, env, files] of [
    ['files: { kind: none }\n', ENV, FILES],
    [`${CLUSTER}files: { kind: none }\n`, ENV, CLUSTER_FILES],
  ] as const) {
    expect(await load(yaml, env, files)).toMatchObject({ files: { kind: 'none' }, notices: [] });
  }
  expect(await mistakes('files: { kind: none, bucket: faregate-files }\n', ENV, FILES)).toEqual([
    '1:30 files.bucket: belongs to kind s3',
  ]);
});

test('a key that cannot be read is one mistake', async () => {
  expect(await mistakes(S3, {}, FILES)).toEqual([
    '6:19 files.accessKeyIdEnv: names an environment variable that is not set',
  ]);
});

test.each([
  [
    'a bucket that is none',
    'bucket: faregate-files',
    'bucket: My_Bucket',
    '5:11 files.bucket: is no name of a bucket',
  ],
  [
    'an address with a key in it',
    'http://minio:9000/',
    'http://a:b@minio:9000/',
    '4:13 files.endpoint: is no http or https address without user, query and fragment',
  ],
])('%s', async (_, right, wrong, line) => {
  expect(await mistakes(S3.replace(right, wrong), ENV, FILES)).toEqual([line]);
});
