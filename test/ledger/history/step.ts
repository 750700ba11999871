import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { StartLimits } from '#core/ledger/command.ts';
import type { HoldKind } from '#core/ledger/machine/state.ts';
import { BALANCE_CAP_NANO_USD } from '#core/limits.ts';
import { type Draw, pick } from './random.ts';

/**
 * One choice of a history. Calls, ids and amounts are named relatively (`pick`, units), so that a step means
 * something whatever came before it, and a failing history stays one when steps are taken out.
 */
export type Step =
  | { do: 'wait'; ms: number }
  /** To the turn of the day, the week or the month, or a millisecond beside it. */
  | { do: 'until'; turn: 'day' | 'week' | 'month'; offMs: number }
  | { do: 'grant'; agent: number; pick: number; days: number; units: number; crooked: boolean }
  | {
      do: 'reserve';
      agent: number;
      key: number;
      pick: number;
      otherProcess: boolean;
      kind: HoldKind;
      /** Of a video: none as in older releases, one without a key, one with a key (0: the latest again). */
      order: 'none' | 'plain' | number;
      units: number;
      idAgeMs: number;
      apartMs: number;
    }
  | { do: 'renew'; pick: number; generation: number; holdsSlot: boolean }
  | { do: 'finish'; pick: number }
  | {
      do: 'settle';
      pick: number;
      units: number;
      orphan: boolean;
      made: boolean;
      /** As of an order that was never told. */
      refused: boolean;
      shares: number;
      hours: number;
    }
  | { do: 'claim_video' | 'withdraw_video'; pick: number; worker: number }
  | { do: 'submit_video'; pick: number; worker: number; job: number }
  | { do: 'expire'; agent: number; logBehindMs: number }
  | { do: 'move_out'; agent: number; pick: number; days: number; units: number }
  | { do: 'move_in'; agent: number; pick: number; days: number; units: number }
  | {
      do: 'put_key';
      agent: number;
      key: number;
      label: number;
      hash: 'own' | 'other';
      limitUnits: number | null;
      reset: 'daily' | 'weekly' | 'monthly';
      acting: number | null;
      overMcp: boolean;
    }
  | {
      do: 'change_key';
      agent: number;
      key: number;
      label: number | null;
      limitUnits: 'keep' | number | null;
      reset: 'daily' | 'weekly' | 'monthly';
      acting: number | null;
    }
  | { do: 'start_upload'; agent: number; pick: number }
  | { do: 'revoke_key'; agent: number; key: number; acting: number | null }
  | {
      do: 'set_agent';
      agent: number;
      mode: 'create' | 'update' | 'upsert';
      source: number;
      ahead: number;
      status: 'inactive' | 'active' | 'suspended';
    };

/** What stays the same through one history. */
export interface Profile {
  startMs: number;
  limits: StartLimits;
  keyLimits: { activeKeys: number; mcpKeysPerDay: number };
  uploadsPerDay: number;
  openVideosMax: number;
  /** Nano-dollars of a unit: small, or so large that the balance's cap is in reach. */
  unit: bigint;
}

/** Wednesday noon, and the last minute before a week, a month, a year and a leap day's month turn. */
const STARTS = [
  Date.UTC(2026, 10, 18, 10),
  Date.UTC(2026, 10, 22, 23, 59),
  Date.UTC(2026, 10, 30, 23, 59),
  Date.UTC(2027, 11, 31, 23, 58),
  Date.UTC(2028, 1, 28, 23, 0),
];

export function drawProfile(draw: Draw): Profile {
  const unit = draw(8) === 0 ? BALANCE_CAP_NANO_USD / 100n - 1n : 1n;
  return {
    startMs: pick(draw, STARTS),
    limits: {
      callsPerMinute: pick(draw, [600, 600, 60, 7]),
      burst: pick(draw, [60, 8, 3, 1]),
      runningCalls: pick(draw, [8, 2, 1]),
      dailyShareNanoUsd: pick(draw, [null, null, 50n * unit]),
    },
    keyLimits: { activeKeys: 3, mcpKeysPerDay: 1 },
    uploadsPerDay: 2,
    openVideosMax: pick(draw, [20, 2, 1]),
    unit,
  };
}

/** How often each kind of step is drawn, out of their sum. */
const WEIGHTS: readonly [Step['do'], number][] = [
  ['reserve', 28],
  ['settle', 20],
  ['finish', 6],
  ['renew', 6],
  ['wait', 12],
  ['until', 3],
  ['grant', 10],
  ['expire', 4],
  ['move_out', 5],
  ['move_in', 3],
  ['put_key', 6],
  ['change_key', 4],
  ['start_upload', 4],
  ['claim_video', 9],
  ['submit_video', 9],
  ['withdraw_video', 4],
  ['revoke_key', 2],
  ['set_agent', 3],
];
const KINDS = WEIGHTS.flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));

/** At least as many draws as any step takes. */
export const DRAWS_PER_STEP = 14;

const WAITS = [
  1,
  99,
  100,
  1_000,
  15_000,
  MINUTE_MS - 1,
  MINUTE_MS,
  MINUTE_MS + 1,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  15 * MINUTE_MS - 1,
  15 * MINUTE_MS,
  HOUR_MS - 1,
];
const LONG_WAITS = [HOUR_MS, 6 * HOUR_MS, DAY_MS, DAY_MS, 3 * DAY_MS, 8 * DAY_MS, 44 * DAY_MS];

export function drawStep(draw: Draw): Step {
  const kind = pick(draw, KINDS);
  switch (kind) {
    case 'wait':
      return { do: 'wait', ms: pick(draw, draw(6) === 0 ? LONG_WAITS : WAITS) };
    case 'until':
      return { do: 'until', turn: pick(draw, ['day', 'day', 'day', 'week', 'month']), offMs: draw(3) - 1 };
    case 'grant':
      return {
        do: 'grant',
        agent: drawAgent(draw),
        pick: draw(5),
        days: pick(draw, [0, 1, 1, 2, 2, 3, 4, 6, 8, 8, 9]),
        units: draw(60),
        crooked: draw(24) === 0,
      };
    case 'reserve':
      return {
        do: 'reserve',
        agent: drawAgent(draw),
        key: pick(draw, [1, 1, 1, 1, 1, 2, 2, 2, 3]),
        pick: draw(9),
        otherProcess: draw(8) === 0,
        kind: pick(draw, ['text', 'text', 'text', 'image', 'image', 'video', 'video']),
        order: pick(draw, ['plain', 1, 1, 0, 'none']),
        units: draw(30),
        idAgeMs: draw(18) > 0 ? 0 : pick(draw, [600_000, 600_001, -300_000, -300_001]),
        apartMs: draw(18) > 0 ? 0 : pick(draw, [300_000, 300_001, -300_000, -300_001]),
      };
    case 'renew':
      return { do: 'renew', pick: draw(16), generation: draw(3), holdsSlot: draw(4) > 0 };
    case 'finish':
      return { do: 'finish', pick: draw(16) };
    case 'settle':
      return {
        do: 'settle',
        pick: draw(16),
        units: draw(40),
        orphan: draw(4) === 0,
        made: draw(4) > 0,
        refused: draw(2) === 0,
        shares: draw(4),
        hours: pick(draw, [0, 1, 24, 168]),
      };
    case 'claim_video':
    case 'withdraw_video':
      return { do: kind, pick: draw(8), worker: pick(draw, [0, 0, 0, 1]) };
    case 'submit_video':
      return { do: kind, pick: draw(8), worker: pick(draw, [0, 0, 0, 1]), job: pick(draw, [1, 1, 1, 2]) };
    case 'expire':
      return { do: 'expire', agent: drawAgent(draw), logBehindMs: pick(draw, [0, 0, 0, 86_400_000, -1]) };
    case 'move_out':
    case 'move_in':
      return {
        do: kind,
        agent: drawAgent(draw),
        pick: draw(4),
        days: pick(draw, [0, 1, 1, 2, 2, 3, 8]),
        units: draw(20),
      };
    case 'put_key':
      return {
        do: 'put_key',
        agent: drawAgent(draw),
        key: pick(draw, [1, 2, 2, 3, 3, 4, 5]),
        label: draw(2),
        hash: pick(draw, ['own', 'own', 'own', 'other']),
        limitUnits: pick(draw, [null, null, 20, 40, 80]),
        reset: pick(draw, ['daily', 'weekly', 'monthly']),
        acting: pick(draw, [null, 1, 1, 2]),
        overMcp: draw(3) > 0,
      };
    case 'change_key':
      return {
        do: 'change_key',
        agent: drawAgent(draw),
        key: pick(draw, [1, 2, 2, 3, 3, 4]),
        label: pick(draw, [null, 0, 1]),
        limitUnits: pick(draw, ['keep', 'keep', null, 20, 40, 80]),
        reset: pick(draw, ['daily', 'weekly', 'monthly']),
        acting: pick(draw, [null, null, 1, 2]),
      };
    case 'start_upload':
      return { do: 'start_upload', agent: drawAgent(draw), pick: draw(4) };
    case 'revoke_key':
      return {
        do: 'revoke_key',
        agent: drawAgent(draw),
        key: pick(draw, [1, 2, 2, 3, 3, 4]),
        acting: pick(draw, [null, 1, 2]),
      };
    case 'set_agent':
      return {
        do: 'set_agent',
        agent: drawAgent(draw),
        mode: pick(draw, ['create', 'update', 'upsert', 'upsert']),
        source: draw(2),
        ahead: draw(4) - 1,
        status: pick(draw, ['active', 'active', 'active', 'active', 'inactive', 'suspended']),
      };
    default:
      return kind satisfies never;
  }
}

/** Mostly the first; the third is seldom known to the ledger. */
const drawAgent = (draw: Draw): number => pick(draw, [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
