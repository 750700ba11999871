import { setTimeout as pause } from 'node:timers/promises';
import type { Child } from './child.ts';

const READY_MS = 30_000;
const POLL_MS = 50;

/** Waits until the child answers this URL with 200; fails at once when it has ended. */
export async function untilReady(child: Child, url: string): Promise<void> {
  let dead: unknown = null;
  child.firstLine.catch((error: unknown) => {
    dead = error;
  });
  for (let waitedMs = 0; waitedMs < READY_MS; waitedMs += POLL_MS) {
    if (dead !== null) throw dead;
    const res = await fetch(url).catch(() => null);
    if (res?.status === 200) return;
    await pause(POLL_MS);
  }
  throw new Error(`${url} did not answer within ${READY_MS} ms`);
}
