/** At most so many; the oldest makes room. */
export function setBounded<K, V>(map: Map<K, V>, name: K, value: V, max: number): void {
  map.delete(name);
  map.set(name, value);
  if (map.size <= max) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
