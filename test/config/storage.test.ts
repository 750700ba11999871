import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { hashApiKey } from '#core/accounts/api-key.ts';
import { loadOrCreatePepper } from '#core/accounts/pepper-file.ts';
import type { ClusterStorage } from '../../api/config/storage-settings.ts';
import { testDataDir } from '../support/data-dir.ts';
import { load, mistakes } from './support.ts';

const CLUSTER = `
storage:
  mode: cluster
  redis: { urls: [redis://redis:6379], passwordEnv: REDIS_PASSWORD }
  kafka: { brokers: [kafka:9092], sasl: { mechanism: scram-sha-512, username: gateway, passwordFile: /kafka } }
  cassandra: { contactPoints: [cassandra:9042], username: gateway, passwordEnv: CASSANDRA_PASSWORD }
  keyPepper: { id: b, secretEnv: PEPPER }
  previousKeyPepper: { id: a, secretFile: /pepper }
admin: { tokenFile: /token }
`;
const ENV = { REDIS_PASSWORD: 'r pass', CASSANDRA_PASSWORD: 'c', PEPPER: 'p'.repeat(43) };
const FILES = { '/kafka': 'k\n', '/pepper': `${'o'.repeat(43)}=\n`, '/token': `${'t'.repeat(32)}\n` };

async function loadCluster(yaml = CLUSTER): Promise<ClusterStorage> {
  const { storage } = await load(yaml, ENV, FILES);
  if (storage.mode !== 'cluster') throw new Error('no cluster');
  return storage;
}

test('a cluster has no demo agent, whatever the environment asks for', async () => {
  const { demo, notices } = await load(CLUSTER, { ...ENV, FAREGATE_DEMO: '1' }, FILES);
  expect(demo).toBe('off');
  expect(notices).toContain('FAREGATE_DEMO is ignored: a cluster has no demo agent.');
});

test('a cluster is read with its secrets from the environment and from files', async () => {
  const { redis, kafka, cassandra, allowUnsafe, dataDir } = await loadCluster();
  expect(redis).toMatchObject({ urls: ['redis://redis:6379'], cluster: false, username: null });
  expect(redis.password?.reveal()).toBe('r pass');
  expect(kafka).toMatchObject({ brokers: ['kafka:9092'], tls: false, replicationFactor: 3 });
  expect(kafka.sasl).toMatchObject({ mechanism: 'scram-sha-512', username: 'gateway' });
  expect(kafka.sasl?.password.reveal()).toBe('k');
  expect(cassandra).toMatchObject({
    contactPoints: ['cassandra:9042'],
    localDataCenter: 'datacenter1',
    keyspace: 'faregate',
    username: 'gateway',
  });
  expect(cassandra.password?.reveal()).toBe('c');
  expect({ allowUnsafe, dataDir }).toEqual({ allowUnsafe: false, dataDir: resolve('.faregate') });
  expect((await load(CLUSTER, ENV, FILES)).adminToken?.reveal()).toBe('t'.repeat(32));
});

test('keys are hashed with the new secret, and those of the old one are still recognised', async () => {
  const { peppers } = await loadCluster();
  expect(peppers.map(({ id }) => id)).toEqual(['b', 'a']);
  const [ofNew, ofOld] = peppers.map((pepper) => hashApiKey('fg_key', pepper));
  expect(ofNew).toMatch(/^b\./);
  expect(ofOld).toMatch(/^a\./);
});

test('the secret of an embedded gateway recognises its keys in a cluster', async () => {
  await using folder = await testDataDir();
  const made = loadOrCreatePepper(folder.path, { ledgerInUse: false });
  const stored = JSON.parse(await readFile(join(folder.path, 'pepper.json'), 'utf8'));
  const yaml = CLUSTER.replace('id: b', `id: "${stored.id}"`);
  const { storage } = await load(yaml, { ...ENV, PEPPER: stored.secret }, FILES);
  if (storage.mode !== 'cluster') throw new Error('no cluster');
  expect(hashApiKey('fg_key', storage.peppers[0])).toBe(hashApiKey('fg_key', made));
});

test('no secret of a cluster can be printed by accident', async () => {
  const config = await load(CLUSTER, ENV, FILES);
  const printed = JSON.stringify(config, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  for (const secret of ['r pass', 'p'.repeat(43), 'o'.repeat(43), 't'.repeat(32)]) {
    expect(printed).not.toContain(secret);
  }
});

const without = (line: RegExp) => CLUSTER.replace(line, '');

const cases: [string, string, string[]][] = [
  [
    'a cluster without its stores',
    'storage: { mode: cluster }',
    ['redis', 'kafka', 'cassandra', 'keyPepper'].map(
      (key) => `1:10 storage.${key}: is missing: mode cluster needs it`,
    ),
  ],
  [
    'stores that nobody would use',
    'storage:\n  redis: { urls: [redis://redis:6379] }\n  allowUnsafe: true',
    ['2:10 storage.redis: belongs to mode cluster', '3:16 storage.allowUnsafe: belongs to mode cluster'],
  ],
  [
    'a password in an address',
    CLUSTER.replace('redis://redis:6379', 'redis://:geheim@redis:6379'),
    ['4:19 storage.redis.urls[0]: is no redis:// or rediss:// address without user and password'],
  ],
  [
    'several addresses of one Redis',
    CLUSTER.replace('[redis://redis:6379]', '[redis://a:1, redis://b:1]'),
    ['4:10 storage.redis.cluster: has to be true: several addresses are nodes of a Redis Cluster'],
  ],
  [
    'a variable that is not set',
    CLUSTER.replace('REDIS_PASSWORD', 'OTHER'),
    ['4:53 storage.redis.passwordEnv: names an environment variable that is not set'],
  ],
  [
    'a file that is not there, beside a short secret',
    CLUSTER.replace('/pepper', '/nowhere').replace('PEPPER', 'CASSANDRA_PASSWORD'),
    [
      '7:34 storage.keyPepper.secretEnv: names a secret that is not 32 bytes or more in base64: openssl rand -base64 32 makes one',
      '8:43 storage.previousKeyPepper.secretFile: names a file that cannot be read (ENOENT: there is no such file)',
    ],
  ],
  [
    'a secret that points nowhere',
    CLUSTER.replace(', secretEnv: PEPPER', '').replace(', passwordFile: /kafka', ''),
    [
      '5:41 storage.kafka.sasl.passwordEnv: is missing: write passwordEnv or passwordFile',
      '7:14 storage.keyPepper.secretEnv: is missing: write secretEnv or secretFile',
    ],
  ],
  [
    'one name for two secrets',
    CLUSTER.replace('id: a', 'id: b'),
    ['8:28 storage.previousKeyPepper.id: is the id of keyPepper: two secrets need two names'],
  ],
  [
    'a cluster whose processes would each make a token',
    without(/admin: .*\n/),
    ['2:1 admin.tokenEnv: is missing: the processes of a cluster share one; write tokenEnv or tokenFile'],
  ],
  [
    'a simulator that only one process could ask',
    `${CLUSTER}providers: [{ id: sim, kind: simulator }]`,
    [
      '10:13 providers[0].baseUrl: is missing: a simulator inside one process is no provider of a cluster; start one by itself',
    ],
  ],
  [
    'all that only one process would have',
    `${without(/admin: .*\n/)}providers: [{ id: sim, kind: simulator }]`,
    [
      '2:1 admin.tokenEnv: is missing: the processes of a cluster share one; write tokenEnv or tokenFile',
      '9:13 providers[0].baseUrl: is missing: a simulator inside one process is no provider of a cluster; start one by itself',
    ],
  ],
  [
    'a token that could be guessed',
    CLUSTER.replace('/token', '/kafka'),
    ['9:21 admin.tokenFile: names a token of less than 32 characters, or one with blanks in it'],
  ],
];

test.each(cases)('%s is refused, with its place', async (_, yaml, expected) => {
  expect(await mistakes(yaml, ENV, FILES)).toEqual(expected);
});

test('a token of the operator is taken in the embedded shape, too', async () => {
  const { adminToken, storage } = await load('admin: { tokenFile: /token }', {}, FILES);
  expect(adminToken?.reveal()).toBe('t'.repeat(32));
  expect(storage.mode).toBe('embedded');
});

test('a cluster without providers has none, not a simulator of its own', async () => {
  expect((await load(CLUSTER, ENV, FILES)).providers).toEqual([]);
});
