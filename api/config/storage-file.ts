import { z } from 'zod';
import { addressOf, secretFile, text, variableName, wholeNumber } from './values.ts';

const hosts = z.array(text(255)).min(1).max(100);
const userName = text(255).optional().describe('User name, where the store asks for one.');
const password = {
  passwordEnv: variableName.optional().describe('Environment variable that holds the password.'),
  passwordFile: secretFile.describe('File that holds the password, such as a mounted Secret.'),
};

const redisAddress = addressOf(
  ['redis:', 'rediss:'],
  'is no redis:// or rediss:// address without user and password',
);
const copies = wholeNumber(1, 32).default(3);

const redis = z.strictObject({
  urls: z
    .array(redisAddress)
    .min(1)
    .max(100)
    .describe('Addresses, as redis://redis:6379; rediss:// for TLS. Several only of a Redis Cluster.'),
  cluster: z.boolean().default(false).describe('True: the addresses are nodes of a Redis Cluster.'),
  username: userName,
  ...password,
});

const sasl = z.strictObject({
  mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).describe('How the brokers ask who it is.'),
  username: text(255).describe('User name.'),
  ...password,
});

const kafka = z.strictObject({
  brokers: hosts.describe('Brokers to begin with, as kafka:9092.'),
  tls: z.boolean().default(false).describe('True: connections are encrypted, and certificates checked.'),
  sasl: sasl.optional().describe('Credentials, where the brokers ask for some.'),
  replicationFactor: copies.describe(
    'Copies of the topic that faregate migrate makes. An existing topic is only checked.',
  ),
});

const cassandra = z.strictObject({
  contactPoints: hosts.describe('Nodes to begin with, as cassandra:9042.'),
  localDataCenter: text(255)
    .default('datacenter1')
    .describe('Data centre whose nodes answer; a quorum of them counts.'),
  keyspace: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,47}$/, 'has to be lower-case letters, digits and underscores, at most 48')
    .default('faregate')
    .describe('Keyspace, made by faregate migrate where it is missing.'),
  replicationFactor: copies.describe(
    'Copies in the keyspace that faregate migrate makes. An existing one stays as it is.',
  ),
  tls: z.boolean().default(false).describe('True: connections are encrypted, and certificates checked.'),
  username: userName,
  ...password,
});

const keyPepper = z.strictObject({
  id: z
    .string()
    .regex(/^[0-9A-Za-z]{1,16}$/, 'has to be 1 to 16 letters and digits')
    .describe('Name of this secret; it stands in the hash of each key that was made with it.'),
  secretEnv: variableName
    .optional()
    .describe('Environment variable that holds it: 32 bytes or more in base64.'),
  secretFile: secretFile.describe('File that holds it: 32 bytes or more in base64.'),
});

/** One shape of keys for both modes, so that an editor knows all of them. `toStorage` checks which belong together. */
export const storageFile = z.strictObject({
  mode: z
    .enum(['embedded', 'cluster'])
    .default('embedded')
    .describe(
      'Where money and history are kept: embedded = one process, one folder; ' +
        'cluster = any number of processes on Redis, Kafka and Cassandra.',
    ),
  dataDir: z
    .string()
    .min(1)
    .default('.faregate')
    .describe('Folder of the embedded store. The environment variable FAREGATE_DATA wins.'),
  redis: redis.optional().describe('Cluster: where money is decided.'),
  kafka: kafka.optional().describe('Cluster: where every change of money is remembered.'),
  cassandra: cassandra.optional().describe('Cluster: where history is read.'),
  keyPepper: keyPepper
    .optional()
    .describe('Cluster: the secret that API keys are hashed with. Lost, no key can be recognised again.'),
  previousKeyPepper: keyPepper
    .optional()
    .describe('Cluster: the secret of before, for as long as keys that it hashed are in use.'),
  allowUnsafe: z
    .boolean()
    .default(false)
    .describe(
      'Cluster: true starts on stores that can lose money, such as a topic with one copy. For trying it out.',
    ),
});
export type StorageFile = z.infer<typeof storageFile>;
