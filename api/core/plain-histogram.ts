import { Histogram, type HistogramConfiguration } from 'prom-client';

type Described = HistogramConfiguration<string> & { buckets: number[] };

/** A histogram without labels whose observations cost next to nothing: sums are made when somebody looks. */
export class PlainHistogram extends Histogram {
  readonly #described: Described;
  readonly #counts: number[];
  #sum = 0;

  constructor(described: Described) {
    super(described);
    this.#described = described;
    this.#counts = Array(described.buckets.length + 1).fill(0);
  }

  note(value: number): void {
    let bucket = 0;
    for (const bound of this.#described.buckets) {
      if (value <= bound) break;
      bucket++;
    }
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** The library's own `get` and its registry print what this answers; its types leave the method out. */
  async getForPromString() {
    const { name, help } = this.#described;
    const values: object[] = [];
    let count = 0;
    for (const [bucket, inBucket] of this.#counts.entries()) {
      count += inBucket;
      const le = this.#described.buckets[bucket] ?? '+Inf';
      values.push({ labels: { le }, value: count, metricName: `${name}_bucket` });
    }
    values.push({ labels: {}, value: this.#sum, metricName: `${name}_sum` });
    values.push({ labels: {}, value: count, metricName: `${name}_count` });
    return { name, help, type: 'histogram', values, aggregator: 'sum' };
  }
}
