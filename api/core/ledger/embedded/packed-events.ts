import { isSameKind } from '../../calls/is-same-kind.ts';
import type { CallFacts, LedgerEvent, LedgerEventOf, SavedPrice } from '../../events/ledger-event.ts';

/**
 * The events of one commit, as the journal's file holds them. Nearly all are holds and settlements of calls that are
 * much alike: what they share is written once and the rest without names, a quarter of the bytes. Every byte here is
 * written out, checked, copied to the journal's thread and written twice to the disk. All other events stand as they are.
 */
export function packEvents(events: readonly LedgerEvent[]): string {
  const alike: Alike[] = [];
  const packed = events.map((event) => {
    if (event.type === 'reserved' && event.video === undefined) {
      return packReserved(event, placeOf(alike, event));
    }
    // Videos, stored images and estimated tokens are few, and a release before this one reads them as they stand.
    const isPlain =
      event.type === 'settled' &&
      event.video === undefined &&
      event.stored === undefined &&
      event.end.tokens.estimated === undefined;
    return isPlain ? packSettled(event) : event;
  });
  return JSON.stringify({ alike, events: packed });
}

/**
 * What `packEvents` was given, for `decodeLedgerEvent` to check. Throws on a text that cannot be its own.
 */
export function unpackEvents(text: string): unknown[] {
  const { alike, events } = JSON.parse(text) as { alike: Alike[]; events: Packed[] };
  if (!Array.isArray(alike) || !Array.isArray(events)) throw new Error('it holds no list of events');
  return events.map((event) => {
    if (!Array.isArray(event)) return event;
    switch (event[0]) {
      case 'reserved':
        return unpackReserved(event, alike[event[1]]);
      case 'settled':
        return unpackSettled(event);
      default:
        throw new Error(`no event of the kind ${event[0] satisfies never}`);
    }
  });
}

type Packed = PackedReserved | PackedSettled | LedgerEvent;
type Reserved = LedgerEventOf<'reserved'>;
type Settled = LedgerEventOf<'settled'>;

/** What holds of one model by one process have in common. */
interface Alike {
  nonce: string;
  kind: Reserved['kind'];
  timeLimitMs: number;
  call: CallFacts;
  price: Omit<SavedPrice, 'promptEstimateTokens'>;
}

type PackedReserved = [
  type: 'reserved',
  /** Its place in `alike`. */
  place: number,
  agentId: number,
  version: number,
  atMs: number,
  callId: number,
  keyId: number,
  nanoUsd: string,
  allocations: [expiresAtMs: number, nanoUsd: string][],
  leaseEndsAtMs: number | null,
  startsTatUs: number,
  promptEstimateTokens: number,
];

type PackedSettled = [
  type: 'settled',
  agentId: number,
  version: number,
  atMs: number,
  callId: number,
  chargedNanoUsd: string,
  overrunNanoUsd: string,
  outcome: Settled['end']['outcome'],
  httpStatus: number | null,
  errorCode: string | null,
  durationMs: number,
  prompt: number,
  completion: number,
  reasoning: number | null,
  cached: number,
  cacheWritten?: number,
];

const RESERVED_LENGTH = 12;
/** And one more where the provider's cache was written. */
const SETTLED_LENGTH = 15;

/** The newest first: the calls of one moment are alike. What is not found soon is written again. */
function placeOf(alike: Alike[], event: Reserved): number {
  const oldest = Math.max(0, alike.length - ALIKE_LOOKED_AT);
  for (let place = alike.length - 1; place >= oldest; place--) {
    const of = alike[place];
    if (of !== undefined && isAlike(of, event)) return place;
  }
  const { nonce, kind, timeLimitMs, call } = event;
  const { promptEstimateTokens: _, ...price } = event.price;
  return alike.push({ nonce, kind, timeLimitMs, call, price }) - 1;
}

const ALIKE_LOOKED_AT = 16;

const isAlike = (of: Alike, { nonce, kind, timeLimitMs, call, price }: Reserved): boolean =>
  of.nonce === nonce &&
  of.kind === kind &&
  of.timeLimitMs === timeLimitMs &&
  isSameKind(of.call, call) &&
  of.price.providerId === price.providerId &&
  of.price.promptAtto === price.promptAtto &&
  of.price.completionAtto === price.completionAtto &&
  of.price.cacheReadAtto === price.cacheReadAtto &&
  of.price.cacheWriteAtto === price.cacheWriteAtto &&
  of.price.reasoningAtto === price.reasoningAtto &&
  of.price.requestAtto === price.requestAtto &&
  of.price.factorPpm === price.factorPpm &&
  // Lists, and few calls have any.
  of.price.longPrompts === undefined &&
  price.longPrompts === undefined;

const packReserved = (event: Reserved, place: number): PackedReserved => [
  'reserved',
  place,
  event.agentId,
  event.version,
  event.atMs,
  event.callId,
  event.keyId,
  event.nanoUsd,
  event.allocations.map(({ expiresAtMs, nanoUsd }) => [expiresAtMs, nanoUsd]),
  event.leaseEndsAtMs,
  event.startsTatUs,
  event.price.promptEstimateTokens,
];

function unpackReserved(packed: PackedReserved, of: Alike | undefined): Reserved {
  if (of === undefined) throw new Error(`nothing is at place ${packed[1]} of what calls share`);
  if (packed.length !== RESERVED_LENGTH) throw new Error('a hold has too many or too few parts');
  const { price, ...alike } = of;
  const [, , agentId, version, atMs, callId, keyId, nanoUsd, allocations, leaseEndsAtMs, startsTatUs] =
    packed;
  return {
    v: 1,
    type: 'reserved',
    agentId,
    version,
    atMs,
    callId,
    keyId,
    nanoUsd,
    allocations: allocations.map(([expiresAtMs, nanoUsd]) => ({ expiresAtMs, nanoUsd })),
    leaseEndsAtMs,
    startsTatUs,
    ...alike,
    price: { ...price, promptEstimateTokens: packed[11] },
  };
}

function packSettled(event: Settled): PackedSettled {
  const { outcome, httpStatus, errorCode, durationMs, tokens } = event.end;
  const packed: PackedSettled = [
    'settled',
    event.agentId,
    event.version,
    event.atMs,
    event.callId,
    event.chargedNanoUsd,
    event.overrunNanoUsd,
    outcome,
    httpStatus,
    errorCode,
    durationMs,
    tokens.prompt,
    tokens.completion,
    tokens.reasoning,
    tokens.cached,
  ];
  if (tokens.cacheWritten !== undefined) packed.push(tokens.cacheWritten);
  return packed;
}

function unpackSettled(packed: PackedSettled): Settled {
  if (packed.length !== SETTLED_LENGTH && packed.length !== SETTLED_LENGTH + 1) {
    throw new Error('a settlement has too many or too few parts');
  }
  const [, agentId, version, atMs, callId, chargedNanoUsd, overrunNanoUsd, outcome, httpStatus, errorCode] =
    packed;
  const [, , , , , , , , , , durationMs, prompt, completion, reasoning, cached, cacheWritten] = packed;
  const counts = { prompt, completion, reasoning, cached };
  const tokens = cacheWritten === undefined ? counts : { ...counts, cacheWritten };
  const end = { outcome, httpStatus, errorCode, tokens, durationMs };
  return {
    v: 1,
    type: 'settled',
    agentId,
    version,
    atMs,
    callId,
    chargedNanoUsd,
    overrunNanoUsd,
    end,
  };
}
