import { createSecretKey } from 'node:crypto';
import type { Pepper } from '#core/accounts/api-key.ts';
import { isRecord } from '#core/is-record.ts';
import type { Secret } from '#core/secret.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigProblem } from './config-error.ts';
import {
  type Environment,
  parsePassword,
  parsePepper,
  pepperBytes,
  type ReadFile,
  resolveSecrets,
  type SecretPlace,
} from './resolve-secrets.ts';
import type { StorageFile } from './storage-file.ts';

export type StorageConfig = EmbeddedStorage | ClusterStorage;

export interface EmbeddedStorage {
  mode: 'embedded';
  dataDir: string;
}

export interface ClusterStorage {
  mode: 'cluster';
  /** Of this process alone. */
  dataDir: string;
  redis: RedisSettings;
  kafka: KafkaSettings;
  cassandra: CassandraSettings;
  /** What keys are hashed with, newest first. */
  peppers: readonly [Pepper, ...Pepper[]];
  allowUnsafe: boolean;
}

export interface Credentials {
  username: string | null;
  password: Secret | null;
}

export interface RedisSettings extends Credentials {
  urls: readonly string[];
  cluster: boolean;
}

export interface KafkaSettings {
  brokers: readonly string[];
  tls: boolean;
  sasl: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: Secret } | null;
  replicationFactor: number;
}

export interface CassandraSettings extends Credentials {
  contactPoints: readonly string[];
  localDataCenter: string;
  keyspace: string;
  replicationFactor: number;
  tls: boolean;
}

type Resolved = { ok: true; storage: StorageConfig } | { ok: false; problems: ConfigProblem[] };

/** The block with its secrets, or what does not belong together in it. */
export async function toStorage(
  file: StorageFile,
  document: ConfigDocument,
  env: Environment,
  readFile: ReadFile,
): Promise<Resolved> {
  const { mode, dataDir, redis, kafka, cassandra, keyPepper, previousKeyPepper } = file;
  const problem = (key: string, message: string) => document.problem(['storage', ...key.split('.')], message);
  if (mode === 'embedded') {
    const unused = clusterKeys.filter((key) => isNamed(file, key));
    if (unused.length === 0) return { ok: true, storage: { mode, dataDir } };
    return { ok: false, problems: unused.map((key) => problem(key, 'belongs to mode cluster')) };
  }
  if (redis === undefined || kafka === undefined || cassandra === undefined || keyPepper === undefined) {
    const missing = neededKeys.filter((key) => file[key] === undefined);
    return { ok: false, problems: missing.map((key) => problem(key, 'is missing: mode cluster needs it')) };
  }
  const problems: ConfigProblem[] = [];
  if (redis.urls.length > 1 && !redis.cluster) {
    problems.push(problem('redis.cluster', 'has to be true: several addresses are nodes of a Redis Cluster'));
  }
  const places: SecretPlace[] = [
    passwordPlace(['storage', 'redis'], redis),
    passwordPlace(['storage', 'cassandra'], cassandra),
    passwordPlace(['storage', 'kafka', 'sasl'], kafka.sasl ?? {}),
    pepperPlace('keyPepper', keyPepper),
    pepperPlace('previousKeyPepper', previousKeyPepper ?? {}),
  ];
  const { secrets, problems: unresolved } = await resolveSecrets(places, env, readFile, document);
  problems.push(...unresolved);
  const [ofRedis = null, ofCassandra = null, ofKafka = null, ofPepper = null, ofPrevious = null] = secrets;
  const needs = (key: string, name: string, secret: Secret | null) => {
    if (secret !== null || unresolved.some(({ path }) => path.startsWith(`storage.${key}.`))) return;
    problems.push(problem(`${key}.${name}Env`, `is missing: write ${name}Env or ${name}File`));
  };
  needs('keyPepper', 'secret', ofPepper);
  if (previousKeyPepper !== undefined) needs('previousKeyPepper', 'secret', ofPrevious);
  if (kafka.sasl !== undefined) needs('kafka.sasl', 'password', ofKafka);
  if (previousKeyPepper?.id === keyPepper.id) {
    problems.push(problem('previousKeyPepper.id', 'is the id of keyPepper: two secrets need two names'));
  }
  if (problems.length > 0 || ofPepper === null) return { ok: false, problems };

  const previous =
    previousKeyPepper === undefined || ofPrevious === null
      ? []
      : [toPepper(previousKeyPepper.id, ofPrevious)];
  return {
    ok: true,
    storage: {
      mode,
      dataDir,
      redis: { ...toCredentials(redis, ofRedis), urls: redis.urls, cluster: redis.cluster },
      kafka: {
        brokers: kafka.brokers,
        tls: kafka.tls,
        sasl:
          kafka.sasl === undefined || ofKafka === null
            ? null
            : { mechanism: kafka.sasl.mechanism, username: kafka.sasl.username, password: ofKafka },
        replicationFactor: kafka.replicationFactor,
      },
      cassandra: {
        ...toCredentials(cassandra, ofCassandra),
        contactPoints: cassandra.contactPoints,
        localDataCenter: cassandra.localDataCenter,
        keyspace: cassandra.keyspace,
        replicationFactor: cassandra.replicationFactor,
        tls: cassandra.tls,
      },
      peppers: [toPepper(keyPepper.id, ofPepper), ...previous],
      allowUnsafe: file.allowUnsafe,
    },
  };
}

const neededKeys = ['redis', 'kafka', 'cassandra', 'keyPepper'] as const;
const clusterKeys = [...neededKeys, 'previousKeyPepper', 'allowUnsafe'] as const;

function isNamed(file: StorageFile, key: (typeof clusterKeys)[number]): boolean {
  return isRecord(file[key]) || file[key] === true;
}

interface Password {
  passwordEnv?: string | undefined;
  passwordFile?: string | undefined;
}

const passwordPlace = (path: string[], { passwordEnv, passwordFile }: Password): SecretPlace => ({
  path,
  name: 'password',
  env: passwordEnv,
  file: passwordFile,
  parse: parsePassword,
});

interface PepperSecret {
  secretEnv?: string | undefined;
  secretFile?: string | undefined;
}

const pepperPlace = (key: string, { secretEnv, secretFile }: PepperSecret): SecretPlace => ({
  path: ['storage', key],
  name: 'secret',
  env: secretEnv,
  file: secretFile,
  parse: parsePepper,
});

const toCredentials = (
  { username }: { username?: string | undefined },
  password: Secret | null,
): Credentials => ({ username: username ?? null, password });

const toPepper = (id: string, secret: Secret): Pepper => ({
  id,
  secret: createSecretKey(pepperBytes(secret.reveal())),
});
