import { createRequire } from 'node:module';
import { Kafka, logLevel, type SASLOptions } from 'kafkajs';

export interface KafkaOptions {
  brokers: readonly string[];
  clientId: string;
  /** `true` trusts what the system trusts; `ca` is a PEM text. */
  tls: boolean | { ca: string };
  /** `null`: the brokers ask nobody who he is. */
  sasl: KafkaSasl | null;
}

export interface KafkaSasl {
  mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username: string;
  password: string;
}

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
    ...(sasl === null ? {} : { sasl: saslOptions(sasl) }),
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    retry: { initialRetryTime: RETRY_MS, maxRetryTime: 1_000, retries: RETRIES },
    logLevel: logLevel.NOTHING,
  });
}

function saslOptions({ mechanism, ...who }: KafkaSasl): SASLOptions {
  switch (mechanism) {
    case 'plain':
      return { mechanism, ...who };
    case 'scram-sha-256':
      return { mechanism, ...who };
    case 'scram-sha-512':
      return { mechanism, ...who };
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
