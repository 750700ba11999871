import { spawn } from 'node:child_process';

/** On both shapes: the embedded one in a test's own process, and a cluster of real stores. */
export async function tortureRandomCalls(seed: number, calls: number): Promise<object> {
  const args = ['run', '--project', 'unit', '--project', 'cluster', 'test/gateway/random-calls.test.ts'];
  const child = spawn('vitest', args, {
    stdio: 'inherit',
    env: { ...process.env, SEED: String(seed), CALLS: String(calls), REQUIRE_SERVICES: '1' },
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`of ${calls} random calls, one was told another cost: seed ${seed}`);
  return { calls, shapes: 2 };
}
