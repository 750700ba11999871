import type { TokenCounts } from '#core/events/ledger-event.ts';
import type { FileStore } from '#core/files/file-store.ts';
import type { Settle } from '#core/ledger/command.ts';
import type { NanoUsd } from '#core/money.ts';
import type { ImageCall } from './image-call.ts';
import { KeptOutput } from './kept-output.ts';
import type { ImageSink } from './read-images.ts';
import { SentOutput } from './sent-output.ts';
import { StoredOutput } from './stored-output.ts';

/** What the end of an answer shows. */
export interface ImageTotals {
  /** Unix seconds, as the provider says. */
  created: number | null;
  tokens: TokenCounts;
  cost: NanoUsd | null;
}

export type ImageFiles = Pick<FileStore, 'write' | 'delete' | 'getLink'>;

/** Where a call's images go, and how its caller gets them. */
export interface ImageOutput extends ImageSink {
  /** Before the charge: what it fails at is not paid for. */
  prepare(): Promise<void>;
  /** From here on the caller has what was stored: what it takes of the agent's room. */
  keep(): Settle['stored'] | null;
  end(totals: ImageTotals): void;
  /** Whatever was stored and not kept goes. */
  close(): Promise<void>;
}

/** @param files - Without any, no request for links gets so far. */
export function openOutput(call: ImageCall, files: ImageFiles | null): ImageOutput {
  const { stream, plan } = call.options;
  if (plan.format === 'url' && files !== null) return new StoredOutput(call, files);
  return stream ? new KeptOutput(call) : new SentOutput(call);
}
