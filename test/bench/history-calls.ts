import type { CallRecord } from '#core/calls/call-record.ts';
import { dayOf } from '#core/calls/day-number.ts';
import type { UsageSum } from '#core/calls/history-store.ts';
import { DAY_MS } from '#core/clock.ts';
import { firstIdAt } from '#core/ids.ts';

export const historyAgent = 7;
const DAYS = 89;
/** All that an agent may have active, and what it may use of each. */
export const busyKeys = [1, 2, 3, 4, 5, 6, 7, 8, 9];
export const seldomKey = 10;
const SELDOM = 997;
const MODELS = 12;

/** Calls of one agent over all the time that they are kept, oldest first: each day with every model and busy key. */
export function* historyCalls(count: number, nowMs: number): Generator<CallRecord> {
  const startMs = nowMs - DAYS * DAY_MS;
  let lastId = 0;
  for (let n = 0; n < count; n++) {
    const startedAtMs = Math.floor(startMs + (n / count) * DAYS * DAY_MS);
    const callId = Math.max(firstIdAt(startedAtMs), lastId + 1);
    lastId = callId;
    const keyId = n % SELDOM === 0 ? seldomKey : (busyKeys[n % busyKeys.length] ?? 1);
    const model = Math.floor(n / busyKeys.length) % MODELS;
    yield {
      ...{ callId, agentId: historyAgent, startedAtMs, durationMs: 812 },
      key: { keyId, label: `key ${keyId}`, prefix: 'fg_prefix000' },
      call: {
        ...{ model: `acme/model-${model}`, modelName: `Acme Model ${model}` },
        ...{ endpoint: 'chat.completions', stream: n % 2 === 0 },
      },
      ...{ outcome: n % 50 === 0 ? 'failed' : 'ok', httpStatus: n % 50 === 0 ? 502 : null },
      errorCode: n % 50 === 0 ? 'provider_unavailable' : null,
      tokens: { prompt: 1_200, completion: 300, reasoning: null, cached: 0 },
      ...{ reservedNanoUsd: 12_300_000n, chargedNanoUsd: 2_300_000n },
    };
  }
}

/** What the projector would have counted of these calls. */
export class UsageSums {
  readonly #sums = new Map<string, UsageSum>();
  #seq = 0;

  add({ agentId, startedAtMs, call, tokens, chargedNanoUsd }: CallRecord): void {
    const [day, seq] = [dayOf(startedAtMs), ++this.#seq];
    const name = `${day} ${call.model}`;
    const { model, modelName } = call;
    const empty = { agentId, day, model, modelName, calls: 0, tokens: 0, chargedNanoUsd: 0n };
    const sum = this.#sums.get(name) ?? { ...empty, epoch: 1, seq };
    sum.calls += 1;
    sum.tokens += tokens.prompt + tokens.completion;
    sum.chargedNanoUsd += chargedNanoUsd;
    sum.seq = seq;
    this.#sums.set(name, sum);
  }

  all(): UsageSum[] {
    return [...this.#sums.values()];
  }
}
