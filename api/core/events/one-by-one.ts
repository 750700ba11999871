import type { BatchHandler, HandleRecord, RecordOutcome } from './feed-record.ts';

/** For a feed of which nothing is known between its records. */
export const oneByOne = (handle: HandleRecord): BatchHandler => ({
  async handle({ records }) {
    const outcomes: RecordOutcome[] = [];
    let resumeOffset: bigint | null = null;
    for (const { offset, bytes } of records) {
      const outcome = await handle(bytes);
      outcomes.push(outcome);
      if (outcome.outcome === 'try_again') break;
      resumeOffset = offset + 1n;
    }
    return { outcomes, resumeOffset };
  },
  forget() {},
});
