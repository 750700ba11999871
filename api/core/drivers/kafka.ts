import { createRequire } from 'node:module';
import { type Admin, Kafka, logLevel, type SASLOptions } from 'kafkajs';

export interface KafkaOptions {
  brokers: readonly string[];
  clientId: string;
  /** `true` trusts what the system trusts; `ca` is a PEM text. */
  tls: boolean | { ca: string };
  /** `null`: the brokers ask nobody who he is. */
  sasl: KafkaSasl | null;
}

export type KafkaSasl = Extract<SASLOptions, { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' }>;

const CONNECT_MS = 3_000;
const REQUEST_MS = 5_000;
const RETRY_MS = 50;
/** A second or two in all: who asks tries again, and may leave it to another process meanwhile. */
const RETRIES = 4;

/** A client that says nothing by itself: who uses it tells what failed. */
export function connectKafka({ brokers, clientId, tls, sasl }: KafkaOptions): Kafka {
  return new Kafka({
    clientId,
    brokers: [...brokers],
    ssl: tls === true || tls === false ? tls : { ca: [tls.ca] },
    ...(sasl === null ? {} : { sasl }),
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    retry: { initialRetryTime: RETRY_MS, maxRetryTime: 1_000, retries: RETRIES },
    logLevel: logLevel.NOTHING,
  });
}

/** A connection for what `use` asks about topics and groups, closed after it. */
export async function withAdmin<T>(kafka: Kafka, use: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

/**
 * kafkajs 2.2.4 looks at the queue of each connection every millisecond for as long as that lives, though it has to only
 * while something waits there; Node warns of the negative time that it is given. No setting avoids it.
 */
const { prototype: requestQueue } = createRequire(import.meta.url)(
  'kafkajs/src/network/requestQueue/index.js',
);
const lookAgain = requestQueue.scheduleCheckPendingRequests;
requestQueue.scheduleCheckPendingRequests = function (this: { pending: readonly unknown[] }): void {
  if (this.pending.length > 0) lookAgain.call(this);
};
