import type { Kafka } from 'kafkajs';
import { withAdmin } from './kafka.ts';

/** How many members each of these consumer groups has. A process that died is one until its session has ended. */
export function readGroupSizes(kafka: Kafka, groupIds: readonly string[]): Promise<Map<string, number>> {
  return withAdmin(kafka, async (admin) => {
    // To ask for the coordinator of a group that never was would make a new cluster's topic of offsets.
    const known = (await admin.listGroups()).groups.map(({ groupId }) => groupId);
    const { groups } = await admin.describeGroups(groupIds.filter((each) => known.includes(each)));
    return new Map(groups.map(({ groupId, members }) => [groupId, members.length]));
  });
}
