import { type Kafka, Partitioners, type Producer, type ProducerConfig } from 'kafkajs';

/** One that is connected. A topic that is missing is an error, and not made with a broker's own settings. */
export async function openProducer(
  kafka: Kafka,
  config: Pick<ProducerConfig, 'idempotent' | 'retry'> = {},
): Promise<Producer> {
  const producer = kafka.producer({
    ...config,
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
  });
  await producer.connect();
  return producer;
}
