import kafkajs, { type Kafka } from 'kafkajs';
import { type Clock, HOUR_MS } from '../../clock.ts';
import { withAdmin } from '../../drivers/kafka.ts';
import { ensureTopics } from '../../drivers/kafka-topics.ts';
import { LOG_KEPT_MS } from '../../limits.ts';

export const LEDGER_TOPIC = 'ledger.v1';

export interface LedgerTopicOptions {
  shards: number;
  replicationFactor: number;
  minInsyncReplicas: number;
  retentionMs: number;
}

/** Makes the topic when it is missing, and resolves once every partition has a leader. */
export const ensureLedgerTopic = (kafka: Kafka, clock: Clock, options: LedgerTopicOptions): Promise<void> =>
  ensureTopics(
    kafka,
    [
      {
        topic: LEDGER_TOPIC,
        numPartitions: options.shards,
        replicationFactor: options.replicationFactor,
        configEntries: [
          { name: 'min.insync.replicas', value: String(options.minInsyncReplicas) },
          { name: 'retention.ms', value: String(options.retentionMs) },
          { name: 'retention.bytes', value: '-1' },
          { name: 'cleanup.policy', value: 'delete' },
          // The log's own time: what takes time irreversibly asks it, not a pod's clock.
          { name: 'message.timestamp.type', value: 'LogAppendTime' },
          { name: 'unclean.leader.election.enable', value: 'false' },
        ],
      },
    ],
    clock,
  );

export interface TopicProblem {
  /** For the operator, with what to do. */
  sentence: string;
  /** Nothing can be made of the topic as it is, whatever the operator allows. */
  isFatal: boolean;
}

/** How the topic differs from what keeps money safe. */
export function checkLedgerTopic(kafka: Kafka, shards: number): Promise<TopicProblem[]> {
  return withAdmin(kafka, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [LEDGER_TOPIC] });
    const partitions = topics[0]?.partitions ?? [];
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: LEDGER_TOPIC }],
    });
    const entries = resources[0]?.configEntries ?? [];
    const settings = new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
    const replicas = Math.min(...partitions.map(({ replicas }) => replicas.length));
    return topicProblems({ shards, partitions: partitions.length, replicas, settings });
  });
}

const REPLICAS_MIN = 3;
const IN_SYNC_MIN = 2;

export interface TopicFacts {
  shards: number;
  partitions: number;
  /** Of the partition that has the fewest. */
  replicas: number;
  settings: ReadonlyMap<string, string>;
}

export function topicProblems({ shards, partitions, replicas, settings }: TopicFacts): TopicProblem[] {
  const problems: TopicProblem[] = [];
  const unsafe = (sentence: string) =>
    problems.push({ sentence: `${LEDGER_TOPIC} ${sentence}`, isFatal: false });
  const fatal = (sentence: string) =>
    problems.push({ sentence: `${LEDGER_TOPIC} ${sentence}`, isFatal: true });
  const setting = (name: string): string => settings.get(name) ?? '';

  if (partitions !== shards) {
    fatal(
      `has ${partitions} partitions instead of ${shards}: an agent's shard is its partition for ever, so the number is ` +
        'fixed at install.',
    );
  }
  if (setting('cleanup.policy') !== 'delete') {
    fatal(
      `has cleanup.policy=${setting('cleanup.policy')}: a compacted log has lost money. Set it to delete.`,
    );
  }
  if (replicas < REPLICAS_MIN) {
    const has = replicas === 1 ? '1 replica' : `${replicas} replicas`;
    unsafe(`has ${has}: with fewer than ${REPLICAS_MIN} a lost broker may be lost money.`);
  }
  const inSync = Number(setting('min.insync.replicas'));
  if (inSync < IN_SYNC_MIN) {
    unsafe(
      `has min.insync.replicas=${inSync}: an event that only one broker has counts as safe. Set it to ${IN_SYNC_MIN}.`,
    );
  }
  if (inSync >= replicas && replicas >= REPLICAS_MIN) {
    unsafe(
      `has min.insync.replicas=${inSync} of ${replicas} replicas: one broker that is away stops every new call.`,
    );
  }
  if (setting('unclean.leader.election.enable') === 'true') {
    unsafe('has unclean.leader.election.enable=true: a broker that missed events may lead. Set it to false.');
  }
  if (setting('message.timestamp.type') !== 'LogAppendTime') {
    unsafe(
      `has message.timestamp.type=${setting('message.timestamp.type')}: credit would expire by a pod's clock. Set it to ` +
        'LogAppendTime.',
    );
  }
  const keptMs = Number(setting('retention.ms'));
  if (keptMs >= 0 && keptMs < LOG_KEPT_MS) {
    unsafe(
      `keeps its records for ${Math.round(keptMs / HOUR_MS)} hours: set retention.ms to ${LOG_KEPT_MS} or more, for ` +
        'a recovery and a late trade need them.',
    );
  }
  if (Number(setting('retention.bytes')) >= 0) {
    unsafe(
      `has retention.bytes=${setting('retention.bytes')}: a busy day would cut its past off. Set it to -1.`,
    );
  }
  return problems;
}

/** The log must not be used as it is; each problem is a sentence of the message. */
export class UnsafeLogError extends Error {
  override readonly name = 'UnsafeLogError';

  constructor(problems: readonly TopicProblem[]) {
    super(problems.map(({ sentence }) => sentence).join('\n'));
  }
}

/** Throws `UnsafeLogError`, or answers the problems that the operator allows. */
export async function requireSafeLedgerTopic(
  kafka: Kafka,
  { shards, allowUnsafe }: { shards: number; allowUnsafe: boolean },
): Promise<TopicProblem[]> {
  const problems = await checkLedgerTopic(kafka, shards);
  if (problems.some(({ isFatal }) => isFatal || !allowUnsafe)) throw new UnsafeLogError(problems);
  return problems;
}
