import { type Draw, pick } from '../ledger/history/random.ts';
import type { TestProvider } from '../support/provider.ts';

/** What the provider does with a call, told by how its prompt begins. All prompts are equally long, so that all holds are equal. */
export interface AnswerKind {
  prompt: string;
  stream: boolean;
  /** Long enough that a kill meets calls that run. */
  lastMs: number;
  tokens: number;
}

const GAP_MS = 100;
const kinds: readonly AnswerKind[] = [
  { prompt: 'Proof, kind 1', stream: false, lastMs: 1_500, tokens: 90 },
  { prompt: 'Proof, kind 2', stream: false, lastMs: 4_000, tokens: 150 },
  { prompt: 'Proof, kind 3', stream: true, lastMs: 2_000, tokens: 120 },
  { prompt: 'Proof, kind 4', stream: true, lastMs: 5_000, tokens: 180 },
];
/** As dear as what they hold: the provider counts more than it was asked for, and the rest is the operator's. */
const dearKinds: readonly AnswerKind[] = [
  { prompt: 'Proof, kind 5', stream: false, lastMs: 2_500, tokens: 4_000 },
  { prompt: 'Proof, kind 6', stream: true, lastMs: 3_000, tokens: 4_000 },
];
/** One in so many. */
const DEAR = 16;

export const drawKind = (draw: Draw): AnswerKind => pick(draw, draw(DEAR) === 0 ? dearKinds : kinds);

export function scriptAnswers(provider: TestProvider): void {
  for (const { prompt, stream, lastMs, tokens } of [...kinds, ...dearKinds]) {
    const pace = stream ? { chunks: lastMs / GAP_MS, gapMs: GAP_MS } : { headersDelayMs: lastMs };
    provider.always({ prefix: prompt, completionTokens: tokens, ...pace });
  }
}
