import { describe, expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { type TopicFacts, topicProblems } from '#core/ledger/cluster/kafka-ledger-topic.ts';

const safe: TopicFacts = {
  shards: 64,
  partitions: 64,
  replicas: 3,
  settings: new Map([
    ['min.insync.replicas', '2'],
    ['retention.ms', String(40 * DAY_MS)],
    ['retention.bytes', '-1'],
    ['cleanup.policy', 'delete'],
    ['message.timestamp.type', 'LogAppendTime'],
    ['unclean.leader.election.enable', 'false'],
  ]),
};
const withSetting = (name: string, value: string): TopicFacts => ({
  ...safe,
  settings: new Map([...safe.settings, [name, value]]),
});

describe('a topic for money', () => {
  test('that is safe has nothing said of it', () => {
    expect(topicProblems(safe)).toEqual([]);
    expect(topicProblems(withSetting('retention.ms', '-1'))).toEqual([]);
  });

  test.each<[string, TopicFacts, boolean]>([
    ['partitions', { ...safe, partitions: 32 }, true],
    ['cleanup.policy', withSetting('cleanup.policy', 'compact,delete'), true],
    ['replicas', { ...safe, replicas: 2 }, false],
    ['min.insync.replicas', withSetting('min.insync.replicas', '1'), false],
    ['min.insync.replicas', withSetting('min.insync.replicas', '3'), false],
    ['message.timestamp.type', withSetting('message.timestamp.type', 'CreateTime'), false],
    ['retention.ms', withSetting('retention.ms', String(7 * DAY_MS)), false],
    ['retention.bytes', withSetting('retention.bytes', '1000'), false],
    ['unclean.leader.election', withSetting('unclean.leader.election.enable', 'true'), false],
  ])('that is not names what is wrong: %s', (name, facts, isFatal) => {
    const problems = topicProblems(facts);
    expect(problems.some(({ sentence }) => sentence.includes(name))).toBe(true);
    expect(problems.some((problem) => problem.isFatal)).toBe(isFatal);
  });
});
