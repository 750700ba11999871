/** An operator's lists have fewer names of models than this. */
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
