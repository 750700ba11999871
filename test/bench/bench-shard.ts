import { inAppends } from '#core/ledger/cluster/in-appends.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { eventRecordText, markRecordText } from '#core/ledger/cluster/log-record.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Command } from '#core/ledger/command.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { callIdAt } from '../ledger/case.ts';
import { openingOf, reserveOf, settleOf } from './bench-commands.ts';

const MODELS = 3;
const EVENTS_PER_CALL = 2;

/** Agents of one shard that call in turn, a call a millisecond, and what its log has of them. */
export class BenchShard {
  calls = 0;
  readonly #shard: number;
  readonly #log: LedgerLog;
  readonly #agentIds: number[];
  readonly #state = emptyLedger();
  #nowMs: number;
  #seq = 0;
  #texts: string[] = [];

  constructor(options: { shard: number; agents: number; log: LedgerLog; startMs: number }) {
    const { shard, agents, log, startMs } = options;
    this.#shard = shard;
    this.#log = log;
    this.#nowMs = startMs;
    this.#agentIds = Array.from({ length: agents }, (_, i) => (i + 1) * SHARDS + shard);
  }

  async open(): Promise<void> {
    for (const agentId of this.#agentIds) {
      for (const command of openingOf(agentId, this.#nowMs)) this.#run(command);
    }
    await this.#log.append(this.#shard, [markRecordText(1, 'bench')]);
  }

  async call(count: number): Promise<void> {
    for (let i = 0; i < count; i++) this.#call();
    await this.#flush();
  }

  /** Until its log has so many events. */
  async fill(events: number): Promise<void> {
    while (this.#seq + EVENTS_PER_CALL <= events) {
      this.#call();
      if (this.#texts.length >= EVENTS_AT_ONCE) await this.#flush();
    }
    await this.#flush();
  }

  #call(): void {
    const n = ++this.calls;
    const agentId = this.#agentIds[n % this.#agentIds.length] ?? 0;
    this.#nowMs += 1;
    const callId = callIdAt(this.#nowMs, n % 4096);
    this.#run(reserveOf(agentId, callId, this.#nowMs, `acme/${n % MODELS}`));
    this.#run(settleOf(agentId, callId));
  }

  #run(command: Command): void {
    const { result, events } = decide(this.#state, command, this.#nowMs);
    if (!result.ok) throw new Error(`${command.type}: ${result.reason}`);
    for (const event of events) {
      foldEvent(this.#state, event);
      this.#texts.push(eventRecordText(1, ++this.#seq, JSON.stringify(event)));
    }
  }

  async #flush(): Promise<void> {
    for (const some of inAppends(this.#texts.splice(0))) await this.#log.append(this.#shard, some);
  }
}

const EVENTS_AT_ONCE = 5_000;
