import { type Clock, isoTime } from '#core/clock.ts';
import { type AttoUsd, attoToNanoUp, formatAttoUsd, type NanoUsd } from '#core/money.ts';
import { setBounded } from '#core/set-bounded.ts';
import type { TokenUse } from './prices.ts';
import type { Rule } from './script-rule.ts';

/** What the provider took for one call: the truth that a gateway's charges are compared with. */
export interface BilledCall {
  generationId: string;
  model: string;
  providerName: string;
  costUsd: string;
  /** Rounded up, as the gateway rounds. */
  costNanoUsd: NanoUsd;
  use: TokenUse;
  streamed: boolean;
  /** The reader went away first. */
  cancelled: boolean;
  finishReason: string;
  createdAtMs: number;
}

export interface BillEntry extends Omit<BilledCall, 'costUsd' | 'costNanoUsd'> {
  costAtto: AttoUsd;
  lookupMisses: Rule['lookupMisses'];
}

export interface BillBook {
  add(entry: BillEntry): void;
  /** The newest calls, oldest first; at most `BILLS_KEPT`. */
  list(): readonly BilledCall[];
  /** Of all calls, also of those no longer kept. */
  totalUsd(): string;
  /** The row of `GET /generation`, or `null` for as long as that answers 404. */
  lookUp(generationId: string): BilledCall | null;
}

export const BILLS_KEPT = 10_000;

export function createBillBook(clock: Clock, lookupDelayMs: number): BillBook {
  const entries = new Map<string, { entry: BillEntry; visibleAtMs: number; missesLeft: number }>();
  let totalAtto = 0n;
  return {
    add(entry) {
      totalAtto += entry.costAtto;
      const missesLeft = entry.lookupMisses === 'always' ? Number.POSITIVE_INFINITY : entry.lookupMisses;
      const kept = { entry, visibleAtMs: clock.now() + lookupDelayMs, missesLeft };
      setBounded(entries, entry.generationId, kept, BILLS_KEPT);
    },
    list: () => Array.from(entries.values(), ({ entry }) => billOf(entry)),
    totalUsd: () => formatAttoUsd(totalAtto),
    lookUp(generationId) {
      const found = entries.get(generationId);
      if (found === undefined || clock.now() < found.visibleAtMs) return null;
      if (found.missesLeft === 0) return billOf(found.entry);
      found.missesLeft -= 1;
      return null;
    },
  };
}

function billOf({ costAtto, lookupMisses: _, ...call }: BillEntry): BilledCall {
  return { ...call, costUsd: formatAttoUsd(costAtto), costNanoUsd: attoToNanoUp(costAtto) };
}

/** The body of `GET /generation?id=`; numbers are written by hand where a float would lose digits. */
export function generationPage(bill: BilledCall): string {
  const { use } = bill;
  const row = {
    id: bill.generationId,
    created_at: isoTime(bill.createdAtMs),
    model: bill.model,
    provider_name: bill.providerName,
    api_type: 'completions',
    streamed: bill.streamed,
    cancelled: bill.cancelled,
    finish_reason: bill.finishReason,
    native_finish_reason: bill.finishReason,
    is_byok: false,
    upstream_inference_cost: null,
    cache_discount: null,
    tokens_prompt: use.promptTokens,
    tokens_completion: use.completionTokens,
    native_tokens_prompt: use.promptTokens,
    native_tokens_completion: use.completionTokens,
    native_tokens_reasoning: use.reasoningTokens,
    native_tokens_cached: use.cachedTokens,
  };
  return `{"data":{"total_cost":${bill.costUsd},"usage":${bill.costUsd},${JSON.stringify(row).slice(1)}}`;
}

/** The body of `GET /_billed`. */
export function billsPage(book: BillBook): unknown {
  const data = book
    .list()
    .map(({ costNanoUsd, ...bill }) => ({ ...bill, costNanoUsd: costNanoUsd.toString() }));
  return { object: 'list', totalUsd: book.totalUsd(), data };
}
