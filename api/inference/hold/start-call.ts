import type { CallFacts, SavedPrice } from '#core/events/ledger-event.ts';
import type { Reserve, ReserveRefusal, StartLimits } from '#core/ledger/command.ts';
import type { Executed, UnavailableResult } from '#core/ledger/ledger.ts';
import type { AgentStatus, HoldKind } from '#core/ledger/machine/state.ts';
import type { NanoUsd } from '#core/money.ts';
import { atMost } from '#core/wait.ts';
import type { Caller } from '../../contract/caller.ts';
import { type ApiError, type ErrorCode, errorTable, isApiError } from '../../contract/errors.ts';
import type { HotCallContext } from '../../contract/route.ts';
import type { Gateway } from './gateway.ts';
import type { HeldCallOptions } from './held-call.ts';
import { callCeiling, readStartRoom } from './read-start-room.ts';
import { refuseCapacity, refuseReserve } from './refuse-start.ts';
import type { StartAdvice } from './start-advice.ts';

/** A refused body counts as one more refused start for each of these. */
const REFUSED_START_BYTES = 64 * 1024;

export interface StartContext extends Omit<HotCallContext<unknown, Caller>, 'deps'> {
  /** Why an agent of this status would be refused before anything is held; `null`: it would not. */
  admit: (agentStatus: AgentStatus) => ApiError | null | Promise<ApiError | null>;
}

/** A call that was admitted, and the bounds that its hold is made of. */
export interface Start {
  kind: HoldKind;
  holdNanoUsd: NanoUsd;
  call: CallFacts;
  price: SavedPrice;
  advice: StartAdvice;
  /** The time limit of a kind whose calls all have the same. Default: the operator's limit for streams or for whole answers. */
  timeLimitMs?: number;
}

/** The parts of a start that only a kind whose holds outlive the request has. */
export interface LastingStart<T> {
  /** Stores what a worker needs for the hold, before it is held. */
  prepare(nowMs: number): Promise<NonNullable<Reserve['video']> | ApiError>;
  /** Answers a refused hold, and deletes what was stored. `null`: the refusal stands. */
  refused(refusal: ReserveRefusal | UnavailableResult): Promise<T | ApiError | null>;
}

/** Capacity, then the hold, then whatever runs below it. A refusal is returned for the edge to render. */
export async function startCall<T>(
  gateway: Gateway,
  context: StartContext,
  start: Start,
  run: (held: HeldCallOptions) => Promise<T>,
  lasting: LastingStart<T> | null = null,
): Promise<T | ApiError> {
  const { holdNanoUsd, advice } = start;
  const noRoom = await admitToCapacity(gateway, context, start);
  if (noRoom !== null) {
    // The names and files of a lasting order were looked up before, so its refusals count against the agent's rate.
    return lasting === null
      ? await refuse(gateway, context, noRoom)
      : await refuseStart(gateway, context, noRoom);
  }
  const startedAtMs = gateway.clock.now();
  let refused: Executed<ReserveRefusal>;
  let isHeld = false;
  try {
    const video = lasting === null ? undefined : await lasting.prepare(startedAtMs);
    if (isApiError(video)) return await refuseStart(gateway, context, video);
    const { command, held } = planHold(gateway, context, start, startedAtMs);
    const { result, durable } = await gateway.ledger.execute(
      video === undefined ? command : { ...command, video },
    );
    if (result.ok) {
      gateway.metrics.started();
      // The held call itself releases what was admitted from here on.
      isHeld = true;
      return await run({ ...held, durable });
    }
    refused = { result, durable };
  } finally {
    if (!isHeld) gateway.capacity.release(holdNanoUsd);
  }
  const confirmed = await confirmRefusal(gateway, refused);
  const answer = (await lasting?.refused(confirmed)) ?? null;
  if (answer !== null) return isApiError(answer) ? await refuseStart(gateway, context, answer) : answer;
  const refusal = refuseReserve(confirmed, advice, holdNanoUsd, {
    nowMs: startedAtMs,
    callsPerMinute: gateway.limits().callsPerMinute,
    waitForClockMs: gateway.waitForClockMs,
    room: boundReasons.has(confirmed.reason) ? await readStartRoom(gateway, context.caller) : null,
  });
  return await refuseStart(gateway, context, refusal);
}

async function admitToCapacity(
  gateway: Gateway,
  { caller }: StartContext,
  { holdNanoUsd, advice }: Start,
): Promise<ApiError | null> {
  const ceilingNanoUsd = callCeiling(gateway);
  const answer = gateway.capacity.admit(holdNanoUsd, ceilingNanoUsd);
  const room = answer === 'over_per_call' ? await readStartRoom(gateway, caller) : null;
  return refuseCapacity(answer, advice, holdNanoUsd, { ceilingNanoUsd, room });
}

function planHold(
  gateway: Gateway,
  { callId, res, caller: { agentId, keyId } }: StartContext,
  { kind, holdNanoUsd, call, price, timeLimitMs: ofKind }: Start,
  startedAtMs: number,
): { command: Reserve; held: Omit<HeldCallOptions, 'durable'> } {
  const { streamMs, callMs } = gateway.limits();
  const timeLimitMs = ofKind ?? (call.stream ? streamMs : callMs);
  const arrivedAtMs = gateway.clock.monotonicMs();
  const { stream } = call;
  return {
    command: {
      type: 'reserve',
      agentId,
      keyId,
      callId,
      nonce: gateway.nonce,
      kind,
      nanoUsd: holdNanoUsd,
      timeLimitMs,
      callerNowMs: startedAtMs,
      call,
      price,
      limits: startLimits(gateway),
    },
    held: {
      gateway,
      res,
      callId,
      agentId,
      keyId,
      holdNanoUsd,
      stream,
      startedAtMs,
      arrivedAtMs,
      timeLimitMs,
    },
  };
}

/**
 * A refusal counts once the journal has what it rests on. A start that never gets there is given up, and then the credit, the
 * slot or the rate that another call was refused for had never been used.
 */
async function confirmRefusal(
  { clock, gateTimeoutMs }: Pick<Gateway, 'clock' | 'gateTimeoutMs'>,
  { result, durable }: Executed<ReserveRefusal>,
): Promise<ReserveRefusal | UnavailableResult> {
  const durability = await atMost(clock, durable, gateTimeoutMs, 'unknown');
  return durability === 'durable' ? result : { ok: false, reason: 'unavailable' };
}

/** Refusals whose advice heeds more than the bound that was met first. */
const boundReasons: ReadonlySet<string> = new Set(['daily_share', 'key_limit', 'balance']);

/** Counts a refusal that is nobody's doing. */
export async function refuse(gateway: Gateway, context: StartContext, wanted: ApiError): Promise<ApiError> {
  const error = await unlessEnded(context, wanted);
  gateway.metrics.refused(error.code);
  return error;
}

/** The same refusal, or what comes before it by now: the key revoked, the agent suspended. */
async function unlessEnded(
  { caller, confirmCaller, admit }: StartContext,
  error: ApiError,
): Promise<ApiError> {
  const now = await confirmCaller();
  if (isApiError(now)) return now;
  if (now.agentStatus === caller.agentStatus) return error;
  return (await admit(now.agentStatus)) ?? error;
}

/** Counts a refusal that is the caller's doing against its own rate. */
export async function refuseStart(
  gateway: Gateway,
  context: StartContext,
  wanted: ApiError,
): Promise<ApiError> {
  const { caller, body } = context;
  const error = await refuse(gateway, context, wanted);
  countRefusedStart(gateway, caller.agentId, body.length, error.code);
  return error;
}

/** A refusal costs an agent no money, so refusals have a rate of their own, which grows with the size of the refused body. */
export function countRefusedStart(
  { refusedStarts, limits, clock }: Pick<Gateway, 'refusedStarts' | 'limits' | 'clock'>,
  agentId: number,
  bodyBytes: number,
  code: ErrorCode,
): void {
  const { status } = errorTable[code];
  // An outage is not the agent's doing, nor is a refusal that follows from a key that the agent has revoked.
  if (status >= 500 || code === 'invalid_api_key') return;
  // A 429 tells the agent how long to wait. Counting its body could make that wait longer than it was told.
  const ofBody = status === 429 ? 0 : Math.floor(bodyBytes / REFUSED_START_BYTES);
  refusedStarts.spend(agentId, clock.monotonicMs(), Math.min(1 + ofBody, limits().burst));
}

/** The operator's limits on starts at this moment. */
function startLimits({
  limits,
  dailyShareNanoUsd,
}: Pick<Gateway, 'limits' | 'dailyShareNanoUsd'>): StartLimits {
  const { callsPerMinute, burst, runningCalls } = limits();
  return { callsPerMinute, burst, runningCalls, dailyShareNanoUsd: dailyShareNanoUsd() };
}
