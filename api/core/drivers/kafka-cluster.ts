import type { Kafka } from 'kafkajs';

/**
 * What kafkajs's own consumers and producers are made of. Its consumers read only as a group, which takes three seconds
 * to form on a broker as it is shipped, is lost by whoever pauses, and then begins somewhere else; a log that is read
 * for money is read by offset.
 */
export interface KafkaCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: string[]): Promise<void>;
  /** By the leader's node id. */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
  findBroker(options: { nodeId: string }): Promise<KafkaBroker>;
  /** Of each partition the offset of the first record that it still has, or the one behind its last. */
  fetchTopicsOffset(
    topics: { topic: string; partitions: { partition: number }[]; fromBeginning: boolean }[],
  ): Promise<{ topic: string; partitions: { partition: number; offset: string }[] }[]>;
}

export interface KafkaBroker {
  fetch(options: FetchOptions): Promise<{ responses: FetchedTopic[] }>;
}

interface FetchOptions {
  maxWaitTime: number;
  minBytes: number;
  maxBytes: number;
  topics: {
    topic: string;
    partitions: { partition: number; fetchOffset: string; maxBytes: number }[];
  }[];
}

interface FetchedTopic {
  partitions: { partition: number; messages: FetchedMessage[] }[];
}

export interface FetchedMessage {
  offset: string;
  /** Of the append, where the topic is set so. */
  timestamp: string;
  value: Buffer | null;
}

/** With all that the client was configured with. Private to kafkajs, whose version is pinned. */
export function createKafkaCluster(kafka: Kafka): KafkaCluster {
  const name = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  );
  const create: unknown = name === undefined ? null : Reflect.get(kafka, name);
  if (typeof create !== 'function') throw new Error('this version of kafkajs keeps its cluster elsewhere');
  return create.call(kafka, { allowAutoTopicCreation: false, metadataMaxAge: METADATA_MAX_AGE_MS });
}

const METADATA_MAX_AGE_MS = 300_000;
