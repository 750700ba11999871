const SEQ_BITS = 40n;

/**
 * The time at which Cassandra takes a value to be written: the place of the event that it comes from, so that whoever
 * is late, or does it again, changes nothing.
 */
export const placeTimestamp = (epoch: number, seq: number): bigint =>
  (BigInt(epoch) << SEQ_BITS) + BigInt(seq);
