import { Counter, type Registry } from 'prom-client';

export interface FeedCounts {
  onRecords: (count: number) => void;
  onDeadLetter: () => void;
}

/** Of all feeds of a process, by their topic. */
export function createFeedMetrics(registry: Registry): (topic: string) => FeedCounts {
  const registers = [registry];
  const labelNames = ['topic'];
  const records = new Counter({
    ...{ name: 'faregate_feed_records_total', registers, labelNames },
    help: 'Records of feeds that were dealt with, by topic; one that two readers need counts twice',
  });
  const deadLetters = new Counter({
    ...{ name: 'faregate_dead_letters_total', registers, labelNames },
    help: 'Records of feeds that were kept apart, by topic',
  });
  return (topic) => {
    records.inc({ topic }, 0);
    deadLetters.inc({ topic }, 0);
    return {
      onRecords: (count) => records.inc({ topic }, count),
      onDeadLetter: () => deadLetters.inc({ topic }),
    };
  };
}
