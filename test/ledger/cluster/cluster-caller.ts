import { expect } from 'vitest';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import { shardOfAgent, shardOfKeyHash } from '#core/ledger/cluster/shards.ts';
import type { Command, Reserve, ResultOf } from '#core/ledger/command.ts';
import type { Ledger, UnavailableResult } from '#core/ledger/ledger.ts';
import { until } from '../../support/gateway.ts';
import { callIdAt } from '../case.ts';
import { callEnd, callFacts, keyLimits, MINUTES_13, savedPrice } from '../commands.ts';

/** Agents and their calls in real time, on a cluster whose parts may be away. */
export class ClusterCaller {
  readonly #ledger: Ledger;
  readonly #shards: number;
  #lastCall = 0;

  constructor(ledger: Ledger, shards: number) {
    this.#ledger = ledger;
    this.#shards = shards;
  }

  /** Until it is answered and in the log, as a client retries. */
  async told<C extends Command>(command: C): Promise<ResultOf<C>> {
    const answers: ResultOf<C>[] = [];
    await until(async () => {
      const { result, durable } = await this.#ledger.execute(command);
      if (!isAnswer<C>(result) || (await durable) !== 'durable') return false;
      answers.push(result);
      return true;
    }, 60_000);
    const [answer] = answers;
    if (answer === undefined) throw new Error(`${command.type} was never answered`);
    return answer;
  }

  async makeAgent(agentId: number, nanoUsd: bigint): Promise<void> {
    const base = { source: 'test', sourceVersion: 1, name: 'Ada', token: null } as const;
    await this.told({ type: 'set_agent', agentId, mode: 'create', status: 'active', ...base });
    await this.told({
      type: 'put_key',
      readVersion: null,
      agentId,
      keyId: agentId,
      label: 'k',
      prefix: 'fg_prefix000',
      hash: this.#hashOf(agentId),
      limit: null,
      actingKeyId: null,
      madeOverMcp: false,
      limits: keyLimits,
    });
    const expiresAtMs = startOfDayMs(Date.now()) + 8 * DAY_MS;
    await this.told({ type: 'grant', agentId, grantId: `g${agentId}`, expiresAtMs, nanoUsd });
  }

  reserve(agentId: number, nanoUsd: bigint): Reserve {
    return {
      type: 'reserve',
      agentId,
      keyId: agentId,
      callId: callIdAt(Date.now(), ++this.#lastCall % 4096),
      nonce: 'process-1',
      kind: 'text',
      nanoUsd,
      timeLimitMs: MINUTES_13,
      callerNowMs: Date.now(),
      call: callFacts,
      price: savedPrice,
      limits: { callsPerMinute: 60_000, burst: 10_000, runningCalls: 1_000, dailyShareNanoUsd: null },
    };
  }

  async call(agentId: number, holdNanoUsd: bigint, costNanoUsd: bigint): Promise<void> {
    const command = this.reserve(agentId, holdNanoUsd);
    expect(await this.told(command)).toMatchObject({ ok: true });
    const { callId } = command;
    const settled = await this.told({
      type: 'settle',
      agentId,
      callId,
      costNanoUsd,
      end: callEnd,
      cause: 'end',
    });
    expect(settled).toMatchObject({ ok: true, chargedNanoUsd: costNanoUsd });
  }

  /** Of a key that falls into its agent's shard. */
  #hashOf(agentId: number): string {
    for (let i = 0; ; i++) {
      const hash = `hash-${agentId}-${i}`;
      if (shardOfKeyHash(hash, this.#shards) === shardOfAgent(agentId, this.#shards)) return hash;
    }
  }
}

const isAnswer = <C extends Command>(result: ResultOf<C> | UnavailableResult): result is ResultOf<C> =>
  result.ok || result.reason !== 'unavailable';
