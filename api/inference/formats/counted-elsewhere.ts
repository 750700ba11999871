import type { StreamUsage, Usage } from '../price/usage.ts';
import type { StreamReader } from './call-format.ts';

export type UsageCounter = Pick<StreamReader, 'records' | 'usage' | 'isComplete'>;

/** Leaves usage and the end of a stream to another reader. */
export abstract class CountedElsewhere {
  protected abstract readonly counter: UsageCounter;

  get records(): StreamUsage {
    return this.counter.records;
  }

  usage(deliveredTokens: number): Usage | null {
    return this.counter.usage(deliveredTokens);
  }

  isComplete(): boolean {
    return this.counter.isComplete();
  }
}
