/** One histogram of a Prometheus text, without labels of its own. */
export interface Histogram {
  /** Upper bounds, rising, with the count of everything up to each. */
  buckets: { upTo: number; count: number }[];
  sum: number;
  count: number;
}

/** `null` when the text has no such histogram. */
export function readHistogram(text: string, name: string): Histogram | null {
  const value = (suffix: string): number =>
    Number(new RegExp(`^${name}_${suffix} (\\S+)$`, 'm').exec(text)?.[1]);
  const buckets = [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\S+)$`, 'gm'))].map(
    ([, upTo, count]) => ({
      upTo: upTo === '+Inf' ? Number.POSITIVE_INFINITY : Number(upTo),
      count: Number(count),
    }),
  );
  return buckets.length === 0 ? null : { buckets, sum: value('sum'), count: value('count') };
}

/** What was observed between two readings. */
export function since(before: Histogram, after: Histogram): Histogram {
  return {
    buckets: after.buckets.map(({ upTo, count }, index) => ({
      upTo,
      count: count - (before.buckets[index]?.count ?? 0),
    })),
    sum: after.sum - before.sum,
    count: after.count - before.count,
  };
}

/** Within its bucket by straight line, as Prometheus reckons. */
export function histogramMedian({ buckets, count }: Histogram): number {
  const half = count / 2;
  let lower = { upTo: 0, count: 0 };
  for (const bucket of buckets) {
    if (bucket.count >= half && bucket.count > lower.count) {
      if (bucket.upTo === Number.POSITIVE_INFINITY) return lower.upTo;
      return lower.upTo + ((half - lower.count) / (bucket.count - lower.count)) * (bucket.upTo - lower.upTo);
    }
    lower = bucket;
  }
  return Number.NaN;
}
