import { measureProjector } from './measure-projector.ts';

/** Wanted of a log that is there already, with Cassandra on the same two cores. */
const CALLS_PER_SECOND_MIN = 300;

/** Few calls an agent, so that nearly every row is a write of its own; and many, as while catching up. */
for (const agents of [6_400, 640]) {
  const load = { shards: 64, agents, calls: 6_400, liveCallsPerSecond: 100, liveSeconds: 10 };
  const { backlogCallsPerSecond, cpuMsPerCall, liveLagMs } = await measureProjector(load);
  console.log(
    `projector, ${agents} agents: ${Math.round(backlogCallsPerSecond)} calls/s (at least ${CALLS_PER_SECOND_MIN}), ` +
      `${cpuMsPerCall.toFixed(2)} ms of CPU each; at ${load.liveCallsPerSecond} calls/s behind by ` +
      `${Math.round(liveLagMs.p50)} ms (p50), ${Math.round(liveLagMs.max)} ms (most)`,
  );
  if (backlogCallsPerSecond < CALLS_PER_SECOND_MIN) process.exitCode = 1;
}
