import type { Bench } from './run-part.ts';
import type { VideosLeft } from './video-worker.ts';

/** As in the Makefile's `workers`. */
const VIDEO_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=256'];

export interface StartedVideoWorker {
  pid: number;
  left(): Promise<VideosLeft>;
  /** Polls that its provider has answered. */
  polls(): Promise<number>;
}

/** A worker with so many open videos, alone on its core. `bytes`: each has been made; `null`: none ever is. */
export async function startVideoWorker(
  { start, coreUnderTest, loadCore }: Pick<Bench, 'start' | 'coreUnderTest' | 'loadCore'>,
  { open, bytes, home }: { open: number; bytes: number | null; home: readonly string[] },
): Promise<StartedVideoWorker> {
  const made = bytes === null ? [] : ['--bytes', String(bytes)];
  const provider = await start('canned-videos.ts', made, loadCore);
  const args = ['--provider', String(provider.port), '--open', String(open), ...home];
  const { pid, port } = await start('video-worker.ts', args, coreUnderTest, VIDEO_FLAGS);
  return {
    pid,
    left: async () => JSON.parse(await textAt(port, '/')),
    polls: async () => JSON.parse(await textAt(provider.port, '/polls')).polls,
  };
}

const textAt = async (port: number, path: string): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).text();
