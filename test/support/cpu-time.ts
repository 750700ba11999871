/**
 * Milliseconds of processor time that this thread spends on `work`. Other processes on a busy machine lengthen the wall
 * clock's time and not this one, so it can tell linear from quadratic work on any machine.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
