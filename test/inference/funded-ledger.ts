import type { Clock } from '#core/clock.ts';
import type { Command } from '#core/ledger/command.ts';
import type { Durability, Ledger } from '#core/ledger/ledger.ts';
import { day } from '../ledger/case.ts';
import { keyLimits } from '../ledger/commands.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';

export interface FundedLedger {
  /** Agent 1 with key 1 and credit; whether a hold is in the journal is said by `confirm`. */
  ledger: Ledger;
  memory: MemoryLedger;
  confirm(durability: Durability): void;
}

export async function startFundedLedger(clock: Clock, creditNanoUsd = 5_000_000_000n): Promise<FundedLedger> {
  const memory = createMemoryLedger({ clock });
  let confirm: (durability: Durability) => void = () => {};
  const confirmed = new Promise<Durability>((resolve) => {
    confirm = resolve;
  });
  const ledger: Ledger = {
    ...memory,
    async execute<C extends Command>(command: C) {
      const executed = await memory.execute(command);
      return command.type === 'reserve' && executed.result.ok
        ? { ...executed, durable: confirmed }
        : executed;
    },
  };
  const agent = { agentId: 1, source: 'operator', sourceVersion: 1, name: 'Ada', token: null } as const;
  await memory.execute({ ...agent, type: 'set_agent', mode: 'create', status: 'active' });
  await memory.execute({
    type: 'put_key',
    readVersion: null,
    agentId: 1,
    keyId: 1,
    label: 'k',
    prefix: 'fg_prefix001',
    hash: 'h',
    limit: null,
    actingKeyId: null,
    madeOverMcp: false,
    limits: keyLimits,
  });
  await memory.execute({
    type: 'grant',
    agentId: 1,
    grantId: 'g',
    expiresAtMs: day(8),
    nanoUsd: creditNanoUsd,
  });
  return { ledger, memory, confirm };
}
