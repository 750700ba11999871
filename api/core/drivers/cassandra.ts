import { auth, Client, errors, policies, types } from 'cassandra-driver';
import { type Clock, SECOND_MS } from '../clock.ts';
import { atMost } from '../wait.ts';

/** A read of the history that takes longer is answered with `unavailable`. */
export const HISTORY_READ_MS = 5 * SECOND_MS;

export interface CassandraOptions {
  /** `host` or `host:port`. */
  contactPoints: readonly string[];
  localDataCentre: string;
  /** Absent only for who makes it. */
  keyspace?: string;
  credentials?: { username: string; password: string };
  /** Encrypted, and every node has to show a certificate for its address that the system trusts. */
  tls: boolean;
}

const CONNECT_MS = 2_000;
/** A node that does not answer is as bad as none: whoever asked has a limit of its own. */
const READ_MS = 2_000;
const RECONNECT_MS = 100;
const HEARTBEAT_MS = 1_000;

/**
 * A client that reads what was written, as long as a majority of the local replicas lives. It connects with its first
 * statement, and again with the next one where that failed. Integers come and go as `bigint` where the column is one:
 * a plain number is refused there.
 *
 * @param readMs How long a node may take to answer.
 */
export function connectCassandra(options: CassandraOptions, readMs = READ_MS): Client {
  const { contactPoints, localDataCentre, keyspace, credentials, tls } = options;
  return new Client({
    contactPoints: [...contactPoints],
    localDataCenter: localDataCentre,
    ...(keyspace !== undefined && { keyspace }),
    ...(credentials !== undefined && {
      authProvider: new auth.PlainTextAuthProvider(credentials.username, credentials.password),
    }),
    // Without the word the driver would take any certificate.
    ...(tls && { sslOptions: { rejectUnauthorized: true } }),
    encoding: { useBigIntAsLong: true, useBigIntAsVarint: true },
    queryOptions: { consistency: types.consistencies.localQuorum, prepare: true, isIdempotent: true },
    socketOptions: { connectTimeout: CONNECT_MS, readTimeout: readMs },
    pooling: { heartBeatInterval: HEARTBEAT_MS },
    policies: { reconnection: new policies.reconnection.ConstantReconnectionPolicy(RECONNECT_MS) },
    monitorReporting: { enabled: false },
  });
}

const { responseErrorCodes: codes } = types;
/** What a sound statement meets while nodes are down, stopped, starting or overloaded. */
const UNAVAILABLE: ReadonlySet<number> = new Set([
  codes.serverError,
  codes.unavailableException,
  codes.overloaded,
  codes.isBootstrapping,
  codes.writeTimeout,
  codes.readTimeout,
  codes.readFailure,
  codes.writeFailure,
]);

/** The store cannot answer at this moment; anything else that a statement throws is a mistake of ours. */
export const isCassandraUnavailable = (error: unknown): boolean =>
  error instanceof errors.NoHostAvailableError ||
  error instanceof errors.OperationTimedOutError ||
  error instanceof errors.BusyConnectionError ||
  (error instanceof errors.ResponseError && UNAVAILABLE.has(error.code));

/** For who starts: it may come by itself, while a wrong name, password or certificate is the operator's to mend. */
export function isCassandraAway(error: unknown): boolean {
  if (!isCassandraUnavailable(error)) return false;
  if (!(error instanceof errors.NoHostAvailableError)) return true;
  return !Object.values<unknown>(error.innerErrors ?? {}).some(
    (inner) =>
      inner instanceof errors.AuthenticationError ||
      (inner instanceof Error && /certificate/i.test(inner.message)),
  );
}

/** An answer, or that there is none at this moment; never a part of one. */
export async function answerInTime<T>(clock: Clock, answer: Promise<T>): Promise<T | 'unavailable'> {
  try {
    return await atMost(clock, answer, HISTORY_READ_MS, 'unavailable' as const);
  } catch (error) {
    if (isCassandraUnavailable(error)) return 'unavailable';
    throw error;
  }
}
