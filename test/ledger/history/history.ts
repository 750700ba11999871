import { isDeepStrictEqual } from 'node:util';
import { decodeLedgerEvent, type LedgerEvent, type LedgerEventOf } from '#core/events/ledger-event.ts';
import type { Command } from '#core/ledger/command.ts';
import { runningCalls } from '#core/ledger/machine/agent-queries.ts';
import { deserializeAgent, serializeAgent } from '#core/ledger/machine/agent-snapshot.ts';
import { apply, applyUnjournaled, foldEvent } from '#core/ledger/machine/apply.ts';
import { checkIdentity } from '#core/ledger/machine/check-identity.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import { type Coverage, observe } from './coverage.ts';
import { LedgerOracle } from './ledger-oracle.ts';
import type { Answer } from './oracle-agent.ts';
import { windowStartMs } from './oracle-calendar.ts';
import type { Profile, Step } from './step.ts';
import { StepWorld } from './step-world.ts';

/** A promise was broken; what the message says is what is wrong, not yet which history broke it. */
export class BrokenPromise extends Error {}

/**
 * One run of the state machine beside its oracle and a fold of its own journal, with every invariant of a single
 * ledger checked after every step.
 */
export class History {
  readonly state = emptyLedger();
  readonly #folded = emptyLedger();
  readonly journal: LedgerEvent[] = [];
  readonly #oracle = new LedgerOracle();
  readonly #world: StepWorld;
  readonly #coverage: Coverage;
  /** Also checks that deciding touches nothing and that every event survives the journal: dear, so not always. */
  readonly #thorough: boolean;
  readonly #started = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #startsMs = new Map<number, number[]>();

  constructor(profile: Profile, coverage: Coverage, thorough: boolean) {
    this.#world = new StepWorld(profile);
    this.#coverage = coverage;
    this.#thorough = thorough;
  }

  run(step: Step): void {
    const command = this.#world.commandOf(step, this.state);
    if (command !== null) this.#execute(command, this.#world.nowMs);
  }

  /** I10: the fold of the journal is the state, but for leases that were renewed; a snapshot is the state. */
  finish(): void {
    for (const agent of this.state.agents.values()) {
      const folded = this.#folded.agents.get(agent.agentId);
      const same = folded !== undefined && isDeepStrictEqual(withoutLeases(folded), withoutLeases(agent));
      if (!same) throw new BrokenPromise(`I10: the fold of agent ${agent.agentId} is not its state`);
      if (this.#thorough && !isDeepStrictEqual(deserializeAgent(serializeAgent(agent)), agent)) {
        throw new BrokenPromise(`the snapshot of agent ${agent.agentId} is not its state`);
      }
    }
    if (!isDeepStrictEqual(this.#folded.keysByHash, this.state.keysByHash)) {
      throw new BrokenPromise('I10: the fold finds other keys');
    }
  }

  #execute(command: Command, nowMs: number): void {
    const agentBefore = this.state.agents.get(command.agentId);
    const before = this.#thorough && agentBefore !== undefined ? serializeAgent(agentBefore) : null;
    const decision = decide(this.state, command, nowMs);
    if (before !== null && agentBefore !== undefined && before !== serializeAgent(agentBefore)) {
      throw new BrokenPromise(`deciding ${command.type} changed the state`);
    }
    const expected = this.#oracle.answer(command, nowMs);
    if (!isSame(decision.result, expected)) {
      throw new BrokenPromise(`${show(command)} answered ${show(decision.result)}, not ${show(expected)}`);
    }
    observe(this.#coverage, command, decision, this.state, nowMs);
    for (const event of decision.events) this.#journalAndApply(event, nowMs);
    applyUnjournaled(this.state, decision);
    const agent = this.state.agents.get(command.agentId);
    if (agent === undefined) return;
    const problem = checkIdentity(agent) ?? this.#oracle.compare(agent, nowMs);
    if (problem !== null) throw new BrokenPromise(`after ${show(command)}: ${problem}`);
    if (command.type === 'reserve' && decision.events.length > 0) this.#checkStart(agent, command, nowMs);
  }

  #journalAndApply(event: LedgerEvent, nowMs: number): void {
    if (this.#thorough) checkJournaled(event);
    if (event.type === 'reserved') this.#checkReserved(event, nowMs);
    if (event.type === 'settled') this.#checkSettled(event);
    apply(this.state, event);
    if (foldEvent(this.#folded, event) !== 'applied')
      throw new BrokenPromise('I10: the fold skipped an event');
    this.journal.push(event);
    const earlier = this.journal[(this.journal.length * 7) >> 3];
    if (earlier !== undefined && foldEvent(this.#folded, earlier) !== 'skipped') {
      throw new BrokenPromise('I10: the fold took an event twice');
    }
  }

  /** I4: one hold a call. I9: none of it from a lot that has ended, soonest expiry first. */
  #checkReserved(event: LedgerEventOf<'reserved'>, nowMs: number): void {
    const call = `${event.agentId} ${event.callId}`;
    if (this.#started.has(call)) throw new BrokenPromise(`I4: call ${call} is held twice`);
    this.#started.add(call);
    let lastMs = nowMs;
    for (const { expiresAtMs } of event.allocations) {
      if (expiresAtMs <= lastMs) throw new BrokenPromise(`I9: call ${call} holds from ${expiresAtMs}`);
      lastMs = expiresAtMs;
    }
  }

  /** I4: one end a call, and the charge within the hold. */
  #checkSettled(event: LedgerEventOf<'settled'>): void {
    const call = `${event.agentId} ${event.callId}`;
    const hold = this.state.agents.get(event.agentId)?.holds.get(event.callId);
    if (this.#ended.has(call) || hold === undefined)
      throw new BrokenPromise(`I4: call ${call} is charged twice`);
    this.#ended.add(call);
    const charged = BigInt(event.chargedNanoUsd);
    if (charged < 0n || charged > hold.nanoUsd) throw new BrokenPromise(`I4: call ${call} pays ${charged}`);
  }

  /** I6: no key's period above its limit. I7: no ninth slot. I8: no window with more starts than rate and burst. */
  #checkStart(agent: AgentState, command: Command & { type: 'reserve' }, nowMs: number): void {
    const { runningCalls: slots, burst, callsPerMinute } = command.limits;
    if (command.kind !== 'video' && runningCalls(agent, nowMs) > slots)
      throw new BrokenPromise('I7: too many run');
    const limit = agent.keys.get(command.keyId)?.limit ?? null;
    if (limit !== null) {
      const { spent, held } = this.#oracle.keyUse(
        agent.agentId,
        command.keyId,
        windowStartMs(limit.reset, nowMs),
      );
      if (spent + held > limit.limitNanoUsd) throw new BrokenPromise('I6: a key is above its limit');
    }
    const starts = this.#startsMs.get(agent.agentId) ?? [];
    this.#startsMs.set(agent.agentId, starts);
    starts.push(nowMs);
    for (const [i, startMs] of starts.entries()) {
      const allowed = burst + ((nowMs - startMs) * callsPerMinute) / 60_000;
      if (starts.length - i > allowed + 1e-3) throw new BrokenPromise('I8: too many starts in a window');
    }
  }
}

function withoutLeases(agent: AgentState): object {
  return {
    ...agent,
    leases: null,
    holds: [...agent.holds],
    done: [...agent.done],
    videos: [...agent.videos],
  };
}

function checkJournaled(event: LedgerEvent): void {
  const read = decodeLedgerEvent(JSON.parse(JSON.stringify(event)));
  if (!isDeepStrictEqual(read, event)) throw new BrokenPromise(`the journal changes ${show(event)}`);
}

/** Of answers, which are flat. */
function isSame(a: Answer, b: Answer): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

export const show = (value: unknown): string =>
  JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? `${field}n` : field));
