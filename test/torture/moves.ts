import { type MoveCoverage, missingMoves, runMoveHistories } from '../market/move-history.ts';

const BATCH = 50_000;

/** Rejects at the first broken promise, whose message holds its seed. */
export async function tortureMoves(firstSeed: number, histories: number): Promise<object> {
  const coverage: MoveCoverage = new Map();
  for (let done = 0; done < histories; done += BATCH) {
    await runMoveHistories(firstSeed + done, Math.min(BATCH, histories - done), coverage);
  }
  const never = missingMoves(coverage);
  if (never.length > 0) throw new Error(`these never happened: ${never.join('; ')}`);
  return { histories, firstSeed, coverage };
}
