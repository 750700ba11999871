import { crc32 } from 'node:zlib';

interface Checked {
  firstSeq: number;
  lastSeq: number;
  atMs: number;
  ended: string;
}

/** Of everything in a row but its events, so that ended calls can be read, and trusted, without them. */
export const headChecksum = ({ firstSeq, lastSeq, atMs, ended }: Checked): number =>
  crc32(`${firstSeq}:${lastSeq}:${atMs}:${ended}`);

export const eventsChecksum = (events: string): number => crc32(events);
