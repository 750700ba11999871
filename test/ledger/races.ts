import { describe, expect, test } from 'vitest';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { Command } from '#core/ledger/command.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import { nextTurn } from '#core/wait.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { callIdAt, type Operation, ok, readAgent, refused } from './case.ts';
import { changeKey, grant, putKey, reserve, revokeKey, setAgent, settle, startUpload } from './commands.ts';
import { createDraw, type Draw, pick } from './history/random.ts';

/** One ledger that several processes use at once: in the embedded shape there is one. */
export interface RacedLedger {
  ledgers: readonly Ledger[];
  clock: FakeClock;
  /** What has been journaled since this was asked last, in order. */
  newEvents(): Promise<LedgerEvent[]>;
}

const ROUNDS = 100;

/** SEED=n runs the rounds of a failure again; what processes do at once still comes in an order of its own. */
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** Each round: an agent of its own, commands in a drawn order from all processes at once, and what was journaled. */
export function describeRaces(name: string, raced: () => RacedLedger): void {
  describe(`races for keys, limits and uploads, ${name} (SEED=${SEED})`, () => {
    test('of fifty keys made at once over MCP where there is room for one, one is made', async () => {
      await runRounds(raced, async (round) => {
        for (let keyId = 2; keyId <= 9; keyId++) await round.does(putKey(keyId));
        const commands = numbers(50).map((i) => putKey(100 + i, overMcp));
        const results = await round.race(commands);
        expect(reasonsOf(results)).toEqual({ ok: 1, too_many_active_keys: 49 });
        expect(round.events.filter(({ type }) => type === 'key_put')).toHaveLength(1);
        expect((await round.agent()).keys).toHaveLength(10);
      });
    });

    test('of fifty keys made at once over MCP after nineteen of the day’s twenty, one is made', async () => {
      await runRounds(raced, async (round) => {
        for (let keyId = 2; keyId <= 20; keyId++) {
          await round.does(putKey(keyId, overMcp));
          await round.does(revokeKey(keyId));
        }
        const results = await round.race(numbers(50).map((i) => putKey(100 + i, overMcp)));
        expect(reasonsOf(results)).toEqual({ ok: 1, too_many_mcp_keys: 49 });
      });
    });

    test('a change of the label and one of the limit at once both count', async () => {
      const limit = { limitNanoUsd: 77n, reset: 'weekly' } as const;
      await runRounds(raced, async (round) => {
        await round.race([changeKey(1, { label: 'desk' }), changeKey(1, { limit })]);
        expect((await round.agent()).keys[0]).toMatchObject({ label: 'desk', limit: { limitNanoUsd: 77n } });
      });
    });

    test('a key starts no call beyond the limit that it has at that moment, however often that changes', async () => {
      const seen = new Set<string>();
      await runRounds(raced, async (round) => {
        const { draw } = round;
        await round.does(putKey(2, { limit: dailyLimit(100n) }));
        const spends = numbers(24).map((call) => {
          const start = reserve(call, BigInt(1 + draw(30)), { keyId: 2, limits: manyStarts });
          return draw(3) === 0 ? [start] : [start, settle(call, BigInt(draw(35)))];
        });
        const changes = numbers(8).map(() => {
          const limit = pick(draw, ['keep', null, dailyLimit(BigInt(1 + draw(150)))] as const);
          return changeKey(2, { label: `label ${draw(3)}`, limit });
        });
        const results = await round.race([...spends, ...changes]);
        checkLimits(round.events, 100n);
        for (const reason of Object.keys(reasonsOf(results))) seen.add(reason);
      });
      expect(seen).toContain('key_limit');
    });

    test('a key starts nothing and makes nothing once it is revoked, and what runs goes on to its end', async () => {
      const seen = new Set<string>();
      await runRounds(raced, async (round) => {
        const { draw } = round;
        await round.does(putKey(2));
        const starts = numbers(20).map((call) => reserve(call, 1n, { keyId: 2, limits: manyStarts }));
        const makes = numbers(3).map((i) => putKey(10 + i, { actingKeyId: 2, madeOverMcp: true }));
        const renames = numbers(3).map((i) => changeKey(1, { actingKeyId: 2, label: `by 2, ${i}` }));
        const revocations = numbers(3).map(() => revokeKey(2, { actingKeyId: 1 }));
        const late = draw(2) === 0 ? starts.splice(0, 5) : [];
        const results = await round.race([...starts, ...makes, ...renames, ...revocations]);
        expect(results.filter(({ command, result }) => command.type === 'revoke_key' && !result.ok)).toEqual(
          [],
        );
        const revokedAt = round.events.findIndex(({ type }) => type === 'key_revoked');
        const after = round.events.slice(revokedAt + 1);
        expect(after).toEqual([]);
        for (const start of late) await round.does(start, refused('key_revoked'));
        for (const { callId } of (await round.agent()).holds) {
          await round.does(
            settle(0, 1n, { callId }),
            expect.objectContaining({ ok: true, chargedNanoUsd: 1n }),
          );
        }
        for (const reason of Object.keys(reasonsOf(results))) seen.add(reason);
      });
      expect([...seen].sort()).toEqual(['acting_key_revoked', 'key_revoked', 'ok']);
    });

    test('of fifty uploads started at once where two are left of the day’s, two are', async () => {
      const limits = { uploadsPerDay: 5 };
      await runRounds(raced, async (round) => {
        for (let i = 0; i < 3; i++) await round.does(startUpload(`upl_${i}`, { limits }));
        const results = await round.race(numbers(50).map((i) => startUpload(`upl_${100 + i}`, { limits })));
        expect(reasonsOf(results)).toEqual({ ok: 2, uploads_per_day: 48 });
        expect(round.events.map(({ type }) => type)).toEqual(['upload_started', 'upload_started']);
      });
    });
  });
}

const overMcp = { actingKeyId: 1, madeOverMcp: true };
const manyStarts = { callsPerMinute: 60_000, burst: 1_000, runningCalls: 1_000, dailyShareNanoUsd: null };
const dailyLimit = (limitNanoUsd: bigint) => ({ limitNanoUsd, reset: 'daily' }) as const;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

async function runRounds(raced: () => RacedLedger, race: (round: Round) => Promise<void>): Promise<void> {
  for (let number = 1; number <= ROUNDS; number++) {
    const round = new Round(raced(), number);
    try {
      await round.begin();
      await race(round);
    } catch (cause) {
      throw new Error(`round ${number} of SEED=${SEED}`, { cause });
    }
  }
}

type Answer = { command: Command; result: { ok: boolean; reason?: string } };

/** An agent that nobody else has, with key 1 and credit. */
class Round {
  readonly draw: Draw;
  /** Of the race alone. */
  events: LedgerEvent[] = [];
  readonly #raced: RacedLedger;
  readonly #agentId: number;
  readonly #callIds: Map<number, number>;

  constructor(raced: RacedLedger, number: number) {
    this.draw = createDraw(SEED + number);
    this.#raced = raced;
    this.#agentId = number;
    this.#callIds = new Map(numbers(100).map((call) => [call, callIdAt(raced.clock.now(), call)]));
  }

  async begin(): Promise<void> {
    for (const operation of [setAgent(), putKey(1), grant(1_000_000n)]) await this.does(operation);
  }

  async does(operation: Operation, expected: object = ok): Promise<void> {
    expect((await this.#execute(operation)).result).toEqual(expected);
  }

  /** Each caller does one thing after the other; which caller asks which process, and when, is drawn. */
  async race(callers: readonly (Operation | readonly Operation[])[]): Promise<Answer[]> {
    await this.#raced.newEvents();
    const answers = await Promise.all(
      shuffled(this.draw, callers).map((caller) => this.#call([caller].flat())),
    );
    this.events = await this.#raced.newEvents();
    return answers.flat();
  }

  async agent(): Promise<AgentView> {
    return await readAgent(pick(this.draw, this.#raced.ledgers), this.#agentId);
  }

  async #call(operations: readonly Operation[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    const turns = this.draw(3);
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    for (const operation of operations) answers.push(await this.#execute(operation));
    return answers;
  }

  async #execute(operation: Operation): Promise<Answer> {
    const { clock, ledgers } = this.#raced;
    const ledger = pick(this.draw, ledgers);
    const command = { ...operation({ ledger, clock, callIds: this.#callIds }), agentId: this.#agentId };
    if (command.type === 'put_key') command.hash = `${command.hash} of ${this.#agentId}`;
    return { command, result: await executeDurably(ledger, command) };
  }
}

function shuffled<T>(draw: Draw, values: readonly T[]): T[] {
  const left = [...values];
  return values.flatMap(() => left.splice(draw(left.length), 1));
}

function reasonsOf(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { result } of answers) {
    const reason = result.reason ?? 'ok';
    counts[reason] = (counts[reason] ?? 0) + 1;
  }
  return counts;
}

/** By the journal's order, and by its own arithmetic: what key 2 has spent and holds is within its limit at each start. */
function checkLimits(events: readonly LedgerEvent[], firstNanoUsd: bigint): void {
  let limit: bigint | null = firstNanoUsd;
  let spent = 0n;
  const holds = new Map<number, bigint>();
  for (const event of events) {
    if (event.type === 'key_put') limit = event.limit === null ? null : BigInt(event.limit.limitNanoUsd);
    if (event.type === 'settled') {
      holds.delete(event.callId);
      spent += BigInt(event.chargedNanoUsd);
    }
    if (event.type !== 'reserved') continue;
    holds.set(event.callId, BigInt(event.nanoUsd));
    const used = [...holds.values()].reduce((sum, held) => sum + held, spent);
    if (limit !== null && used > limit) throw new Error(`call ${event.callId} makes ${used} of ${limit}`);
  }
}
