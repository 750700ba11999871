import { systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Command } from '#core/ledger/command.ts';
import { createLog } from '#core/log.ts';
import { openingOf, reserveOf, settleOf } from './bench-commands.ts';

const CALLERS = 64;

export interface HeldCall {
  agentId: number;
  callId: number;
}

export interface BenchLedger {
  /** With the numbers 1, 2, …: each with a key and with credit. */
  openAgents(count: number): Promise<void>;
  /** Of the agents in turn; the holds stay open. */
  hold(count: number): Promise<HeldCall[]>;
  settle(held: readonly HeldCall[]): Promise<void>;
  /** Holds and settles, one after the other, of so many of the agents in turn. */
  call(count: number, ofAgents: number): Promise<void>;
  close(): Promise<void>;
}

/** A cluster's ledger without a gateway around it; everything that resolves is in the log. */
export async function createBenchLedger(redisUrl: string): Promise<BenchLedger> {
  const { ledger, close } = await openClusterLedger({
    address: { urls: [redisUrl], cluster: false },
    shards: SHARDS,
    clock: systemClock,
    log: createLog(),
    allowUnsafe: true,
  });
  const ids = createIdSource(systemClock);
  let agents = 0;
  // Asked again by the same id, it is done once, however late the log is on a busy machine.
  const run = async (command: Command): Promise<void> => {
    for (;;) {
      const { result, durable } = await ledger.execute(command);
      if (!result.ok && result.reason !== 'unavailable') throw new Error(`${command.type}: ${result.reason}`);
      if (result.ok && (await durable) === 'durable') return;
    }
  };
  const open = async (index: number, ofAgents = agents): Promise<HeldCall> => {
    const held = { agentId: 1 + (index % ofAgents), callId: ids.next() };
    await run(reserveOf(held.agentId, held.callId, systemClock.now()));
    return held;
  };
  const end = ({ agentId, callId }: HeldCall): Promise<void> => run(settleOf(agentId, callId));
  return {
    async openAgents(count) {
      agents = count;
      await atOnce(count, async (index) => {
        for (const command of openingOf(1 + index, systemClock.now())) await run(command);
      });
    },
    hold: (count) => atOnce(count, (index) => open(index)),
    async settle(held) {
      await atOnce(held.length, async (index) => {
        const call = held[index];
        if (call !== undefined) await end(call);
      });
    },
    async call(count, ofAgents) {
      await atOnce(count, async (index) => end(await open(index, ofAgents)));
    },
    close: async () => close(),
  };
}

async function atOnce<T>(count: number, task: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun < count) results.push(await task(begun++));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return results;
}
