import { Kafka, logLevel } from 'kafkajs';

const CONNECT_MS = 3_000;
const REQUEST_MS = 5_000;
const RETRY_MS = 50;

/** A client that says nothing by itself: who uses it tells what failed. */
export function connectKafka(brokers: readonly string[], clientId: string): Kafka {
  return new Kafka({
    clientId,
    brokers: [...brokers],
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    retry: { initialRetryTime: RETRY_MS, maxRetryTime: 1_000, retries: 10 },
    logLevel: logLevel.NOTHING,
  });
}
