import { Cluster, Redis, type RedisOptions } from 'ioredis';

export type RedisClient = Redis | Cluster;

export interface RedisAddress {
  /** `rediss://` is TLS. Of a Redis Cluster some of its nodes, which tell of the others. */
  urls: readonly string[];
  cluster: boolean;
  /** How long a command may take. Default: `REDIS_TIMEOUT_MS`. */
  timeoutMs?: number | undefined;
}

export const REDIS_TIMEOUT_MS = 500;
const RECONNECT_MS = 50;
const SILENT_MS = 2_000;
/** A node that does not have a slot says so before it does anything. */
const REDIRECTIONS_MAX = 4;

/** For money: a command is sent once or not at all; who did not get an answer asks again, with the same id. */
const onceOnly = {
  autoResendUnfulfilledCommands: false,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  // Else it sleeps for whole seconds when a node says that it is still loading.
  maxLoadingRetryTime: RECONNECT_MS,
  // A connection may end without a word: nothing comes any more, and nobody says so for a quarter of an hour.
  connectTimeout: SILENT_MS,
  socketTimeout: SILENT_MS,
  keepAlive: SILENT_MS,
} satisfies RedisOptions;

export class RedisUnreachableError extends Error {
  override name = 'RedisUnreachableError';
}

/**
 * A client that is connected; whoever opened it disconnects it. Rejects with the reason, a `RedisUnreachableError`, when
 * there is no Redis. Resending would answer a lost reply by running the step again behind the caller's back.
 */
export async function openRedis(address: RedisAddress): Promise<RedisClient> {
  const client = createClient(address);
  // What a dropped connection means is for its commands to say; but why there never was one is said here alone.
  let whyNot: Error | null = null;
  client.on('error', (error: Error & { lastNodeError?: Error }) => {
    // Of a Redis Cluster this one only says that no node answered.
    whyNot = error.lastNodeError ?? error;
  });
  await client.connect().catch((error: unknown) => {
    client.disconnect();
    throw whyNot === null ? error : new RedisUnreachableError(whyNot.message);
  });
  return client;
}

/** It cannot be reached, is not ready, or does not let us in; anything else is a mistake of ours. */
export const isRedisUnavailable = (error: unknown): boolean =>
  error instanceof Error && (NAMES.has(error.name) || UNAVAILABLE.test(error.message));

/** For who starts: it may come by itself, while a wrong name, password or certificate is the operator's to mend. */
export const isRedisAway = (error: unknown): boolean =>
  isRedisUnavailable(error) && !(error instanceof Error && REFUSED.test(error.message));

const REFUSED = /^(NOAUTH|WRONGPASS|NOPERM)|certificate/i;

/** Of errors for what was never asked, or had no answer when its connection ended. */
const NAMES: ReadonlySet<string> = new Set([
  'RedisUnreachableError',
  'NotAskedError',
  'MaxRetriesPerRequestError',
  'AbortError',
]);
const UNAVAILABLE =
  /^(Connection is closed|connect E|Command timed out|Stream isn't writeable|NOAUTH|WRONGPASS|LOADING|READONLY|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|MISCONF|OOM|Failed to refresh slots|None of startup nodes)/;

function createClient({ urls, cluster, timeoutMs = REDIS_TIMEOUT_MS }: RedisAddress): RedisClient {
  const [first] = urls;
  if (first === undefined) throw new Error('no url of a Redis');
  if (cluster)
    return connectCluster(
      urls.map((url) => new URL(url)),
      timeoutMs,
    );
  const client: Redis = new Redis(first, {
    ...onceOnly,
    commandTimeout: timeoutMs,
    retryStrategy: () => RECONNECT_MS,
    // A primary that became a replica keeps its connections, while its address leads to another by now. Only who
    // writes is told, as each process does every second for the pool; of many answers that say so the first one is enough.
    reconnectOnError: (error) => DEMOTED.test(error.message) && client.stream.writable,
    enableAutoPipelining: true,
    lazyConnect: true,
  });
  return client;
}

const DEMOTED = /^(READONLY|MASTERDOWN)/;

/**
 * One more connection of the same kind, for messages of these channels, for as long as it lives: what was sent while it was
 * lost is missing. ioredis would subscribe again by itself, but end the process where that fails.
 */
export async function listenToRedis(
  client: RedisClient,
  channels: readonly string[],
  onMessage: (channel: string, message: string) => void,
): Promise<RedisClient> {
  const listener =
    client instanceof Cluster ? client.duplicate() : client.duplicate({ autoResubscribe: false });
  listener.on('error', () => undefined);
  listener.on('message', onMessage);
  try {
    await listener.connect();
    await listener.subscribe(...channels);
  } catch (error) {
    listener.disconnect();
    throw error;
  }
  if (listener instanceof Redis) {
    listener.on('ready', () => {
      listener.subscribe(...channels).catch(() => listener.disconnect(true));
    });
  }
  return listener;
}

function connectCluster(urls: readonly URL[], timeoutMs: number): Cluster {
  const [first] = urls;
  const isTls = first?.protocol === 'rediss:';
  return new Cluster(
    urls.map(({ hostname, port }) => ({ host: hostname, port: Number(port === '' ? DEFAULT_PORT : port) })),
    {
      redisOptions: {
        ...onceOnly,
        commandTimeout: timeoutMs,
        ...(first?.username ? { username: decodeURIComponent(first.username) } : {}),
        ...(first?.password ? { password: decodeURIComponent(first.password) } : {}),
        ...(isTls ? { tls: {} } : {}),
      },
      // Nodes name each other as their certificates do; an address would fit none.
      ...(isTls ? { dnsLookup: (address, callback) => callback(null, address) } : {}),
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      lazyConnect: true,
      maxRedirections: REDIRECTIONS_MAX,
      clusterRetryStrategy: () => RECONNECT_MS,
      // Of a command whose connection was lost nobody knows whether it was done.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
    },
  );
}

const DEFAULT_PORT = 6379;
