/** Where an event stands in its shard, `<epoch>-<seq>`. */
export function parsePlace(place: string): { epoch: number; seq: number } {
  const dash = place.indexOf('-');
  return { epoch: Number(place.slice(0, dash)), seq: Number(place.slice(dash + 1)) };
}
