import { type Clock, every, SECOND_MS, type Timer } from '../clock.ts';

/** Often enough for the session times of our consumer groups. */
export const GROUP_HEARTBEAT_MS = 2 * SECOND_MS;

/** Also while who reads waits for a store that is down. That this member is out, the client finds out by itself. */
export const keepBeating = (clock: Clock, heartbeat: () => Promise<void>): Timer =>
  every(clock, GROUP_HEARTBEAT_MS, () => void heartbeat().catch(() => undefined));
