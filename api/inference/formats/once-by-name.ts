/** As many names of models as an operator's lists have. */
const NAMES_MAX = 10_000;

/** Finds out once what the name of a model tells, because each call asks, and some of it takes several patterns. */
export function onceByName<T>(find: (upstreamModel: string) => T): (upstreamModel: string) => T {
  const found = new Map<string, T>();
  return (upstreamModel) => {
    const known = found.get(upstreamModel);
    if (known !== undefined) return known;
    const value = find(upstreamModel);
    if (found.size >= NAMES_MAX) found.clear();
    found.set(upstreamModel, value);
    return value;
  };
}
