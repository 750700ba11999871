import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Command } from '#core/ledger/command.ts';
import { createLog } from '#core/log.ts';
import { openingOf, reserveOf, settleOf } from './bench-commands.ts';

const askedFor = z.object({ callers: z.int(), durationMs: z.number() });

/**
 * What an API process spends on money alone: holds and settles on a cluster's ledger, and nothing else. `POST /` with
 * `{callers, durationMs}` runs so long, and answers how many calls it were.
 */
const { values } = parseArgs({
  options: { redis: { type: 'string', default: '' } },
});

// As in the gateway.
setFlagsFromString('--no-parallel-scavenge');

/** Out of the way of those that the gateway under test has. */
const agentIds = Array.from({ length: 16 }, (_, i) => 1_000_001 + i);
const { ledger } = await openClusterLedger({
  address: { urls: [values.redis], cluster: false },
  shards: SHARDS,
  clock: systemClock,
  log: createLog(),
  allowUnsafe: true,
});
const ids = createIdSource(systemClock);
for (const agentId of agentIds) {
  for (const command of openingOf(agentId, systemClock.now())) await execute(command);
}

/** Its event is in the log, as a call's must be before the caller sees a byte. */
async function execute(command: Command): Promise<void> {
  const { result, durable } = await ledger.execute(command);
  if (!result.ok) throw new Error(`${command.type}: ${result.reason}`);
  if ((await durable) !== 'durable') throw new Error(`${command.type}: the log did not have it in time`);
}

interface Slice {
  calls: number;
  failed: number;
  elapsedMs: number;
}

async function runSlice({ callers, durationMs }: z.infer<typeof askedFor>): Promise<Slice> {
  const startedMs = performance.now();
  let calls = 0;
  let failed = 0;
  const caller = async (agentId: number): Promise<void> => {
    do {
      const callId = ids.next();
      try {
        await execute(reserveOf(agentId, callId, systemClock.now()));
        await execute(settleOf(agentId, callId));
      } catch {
        failed += 1;
      }
      calls += 1;
    } while (performance.now() - startedMs < durationMs);
  };
  const running = Array.from({ length: callers }, (_, i) => agentIds[i % agentIds.length] ?? 0);
  await Promise.all(running.map(caller));
  return { calls, failed, elapsedMs: performance.now() - startedMs };
}

const server = createServer((req, res) => {
  let body = '';
  req.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  req.on('end', () => {
    void runSlice(askedFor.parse(JSON.parse(body))).then((slice) => res.end(JSON.stringify(slice)));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
process.once('SIGTERM', () => process.exit(0));
