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
  secretPlace,
} from './resolve-secrets.ts';
import type { StorageFile } from './storage-file.ts';

export type StorageConfig = EmbeddedStorage | ClusterStorage;

interface GatePatience {
  /** Not in the configuration file: tests raise it on busy machines. Default: `GATE_TIMEOUT_MS`. */
  gateTimeoutMs?: number;
}

interface EmbeddedStorage extends GatePatience {
  mode: 'embedded';
  dataDir: string;
}

export interface ClusterStorage extends GatePatience {
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

/** The block of a store with its password instead of where that stands. */
type WithPassword<Block> = Omit<Block, 'username' | 'passwordEnv' | 'passwordFile'> & {
  username: string | null;
  password: Secret | null;
};

export interface RedisSettings extends WithPassword<ClusterFile['redis']> {
  /** Not in the configuration file: tests raise it on busy machines. Default: `REDIS_TIMEOUT_MS`. */
  timeoutMs?: number;
}

type KafkaFile = ClusterFile['kafka'];

export interface KafkaSettings extends Omit<KafkaFile, 'sasl'> {
  sasl: (Pick<NonNullable<KafkaFile['sasl']>, 'mechanism' | 'username'> & { password: Secret }) | null;
}

export type CassandraSettings = WithPassword<ClusterFile['cassandra']>;

type Resolved = { ok: true; storage: StorageConfig } | { ok: false; problems: ConfigProblem[] };

/** The block with its secrets, or what does not belong together in it. */
export async function toStorage(
  file: StorageFile,
  document: ConfigDocument,
  env: Environment,
  readFile: ReadFile,
): Promise<Resolved> {
  const problem = (key: string, message: string) => document.problem(['storage', ...key.split('.')], message);
  if (file.mode === 'embedded') {
    const unused = clusterKeys.filter((key) => isNamed(file, key));
    if (unused.length === 0) return { ok: true, storage: { mode: file.mode, dataDir: file.dataDir } };
    return { ok: false, problems: unused.map((key) => problem(key, 'belongs to mode cluster')) };
  }
  if (!isWhole(file)) {
    const missing = neededKeys.filter((key) => file[key] === undefined);
    return { ok: false, problems: missing.map((key) => problem(key, 'is missing: mode cluster needs it')) };
  }
  const places = secretPlaces(file);
  const { secrets: resolved, problems: unresolved } = await resolveSecrets(places, env, readFile, document);
  const [redis = null, cassandra = null, kafka = null, keyPepper = null, previousKeyPepper = null] = resolved;
  const secrets = { redis, cassandra, kafka, keyPepper, previousKeyPepper };
  const problems = [...unresolved, ...checkCluster(file, secrets, unresolved, problem)];
  if (problems.length > 0 || keyPepper === null) return { ok: false, problems };
  return { ok: true, storage: toCluster(file, { ...secrets, keyPepper }) };
}

const neededKeys = ['redis', 'kafka', 'cassandra', 'keyPepper'] as const;
const clusterKeys = [...neededKeys, 'previousKeyPepper', 'allowUnsafe'] as const;

function isNamed(file: StorageFile, key: (typeof clusterKeys)[number]): boolean {
  return isRecord(file[key]) || file[key] === true;
}

/** The block of a cluster that names all of its stores. */
type ClusterFile = StorageFile & { [Key in (typeof neededKeys)[number]]: NonNullable<StorageFile[Key]> };

const isWhole = (file: StorageFile): file is ClusterFile =>
  neededKeys.every((key) => file[key] !== undefined);

/** `null`: the block points to none, or it could not be resolved. */
type ClusterSecrets = Record<(typeof neededKeys)[number] | 'previousKeyPepper', Secret | null>;

function checkCluster(
  { redis, kafka, keyPepper, previousKeyPepper }: ClusterFile,
  secrets: ClusterSecrets,
  unresolved: readonly ConfigProblem[],
  problem: (key: string, message: string) => ConfigProblem,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (redis.urls.length > 1 && !redis.cluster) {
    problems.push(problem('redis.cluster', 'has to be true: several addresses are nodes of a Redis Cluster'));
  }
  const needs = (key: string, name: string, secret: Secret | null) => {
    if (secret !== null || unresolved.some(({ path }) => path.startsWith(`storage.${key}.`))) return;
    problems.push(problem(`${key}.${name}Env`, `is missing: write ${name}Env or ${name}File`));
  };
  needs('keyPepper', 'secret', secrets.keyPepper);
  if (previousKeyPepper !== undefined) needs('previousKeyPepper', 'secret', secrets.previousKeyPepper);
  if (kafka.sasl !== undefined) needs('kafka.sasl', 'password', secrets.kafka);
  if (previousKeyPepper?.id === keyPepper.id) {
    problems.push(problem('previousKeyPepper.id', 'is the id of keyPepper: two secrets need two names'));
  }
  return problems;
}

function toCluster(file: ClusterFile, secrets: ClusterSecrets & { keyPepper: Secret }): ClusterStorage {
  const { dataDir, redis, kafka, cassandra, keyPepper, previousKeyPepper, allowUnsafe } = file;
  const previous =
    previousKeyPepper === undefined || secrets.previousKeyPepper === null
      ? []
      : [toPepper(previousKeyPepper.id, secrets.previousKeyPepper)];
  return {
    mode: 'cluster',
    dataDir,
    redis: withPassword(redis, secrets.redis),
    kafka: {
      ...kafka,
      sasl:
        kafka.sasl === undefined || secrets.kafka === null
          ? null
          : { mechanism: kafka.sasl.mechanism, username: kafka.sasl.username, password: secrets.kafka },
    },
    cassandra: withPassword(cassandra, secrets.cassandra),
    peppers: [toPepper(keyPepper.id, secrets.keyPepper), ...previous],
    allowUnsafe,
  };
}

/** In the order in which `toStorage` names the secrets. */
const secretPlaces = ({ redis, cassandra, kafka, keyPepper, previousKeyPepper }: ClusterFile) => [
  secretPlace(['storage', 'redis'], 'password', redis, parsePassword),
  secretPlace(['storage', 'cassandra'], 'password', cassandra, parsePassword),
  secretPlace(['storage', 'kafka', 'sasl'], 'password', kafka.sasl ?? {}, parsePassword),
  secretPlace(['storage', 'keyPepper'], 'secret', keyPepper, parsePepper),
  secretPlace(['storage', 'previousKeyPepper'], 'secret', previousKeyPepper ?? {}, parsePepper),
];

type StoreBlock = { [Key in 'username' | 'passwordEnv' | 'passwordFile']?: string | undefined };

const withPassword = <Block extends StoreBlock>(
  { username, passwordEnv: _, passwordFile: __, ...block }: Block,
  password: Secret | null,
): WithPassword<Block> => ({ ...block, username: username ?? null, password });

const toPepper = (id: string, secret: Secret): Pepper => ({
  id,
  secret: createSecretKey(pepperBytes(secret.reveal())),
});
