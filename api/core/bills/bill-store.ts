import { z } from 'zod';
import type { NanoUsd } from '../money.ts';
import { parseJson } from '../parse-json.ts';

/** Providers that share an address and a key share a bill. */
export interface BillAccount {
  /** The ids of its providers. */
  name: string;
  providerIds: readonly string[];
}

/** What a provider billed in a time, and what our calls say of the same time. */
export interface BillComparison {
  fromMs: number;
  toMs: number;
  billedNanoUsd: NanoUsd;
  recordedNanoUsd: NanoUsd;
}

/** From where the next comparison goes on. */
export interface BillMark {
  atMs: number;
  /** The provider's whole bill then, and all that was ever recorded. */
  billNanoUsd: NanoUsd;
  recordedNanoUsd: NanoUsd;
  last: BillComparison | null;
}

export interface StoredBill {
  mark: BillMark | null;
  /** The mark as it is stored; empty where there is none. */
  text: string;
  recordedNanoUsd: NanoUsd;
}

/** Survives a restart, and is shared by all processes of a cluster. */
export interface BillStore {
  /** To what calls of these providers cost. */
  add(costs: ReadonlyMap<string, NanoUsd>): Promise<void>;
  read(account: BillAccount): Promise<StoredBill>;
  /** False: another process was faster, and nothing was changed. */
  replace(account: BillAccount, seen: StoredBill, next: BillMark): Promise<boolean>;
}

const nanoUsd = z.codec(z.string().regex(/^\d{1,19}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (value) => value.toString(),
});

const billMark = z.object({
  atMs: z.number(),
  billNanoUsd: nanoUsd,
  recordedNanoUsd: nanoUsd,
  last: z
    .object({ fromMs: z.number(), toMs: z.number(), billedNanoUsd: nanoUsd, recordedNanoUsd: nanoUsd })
    .nullable(),
});

export const formatMark = (mark: BillMark): string => JSON.stringify(z.encode(billMark, mark));

/** `null` also where another release has written what this one cannot read: then the time counts from now. */
export const parseMark = (text: string): BillMark | null => billMark.safeParse(parseJson(text)).data ?? null;
