import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cores, fullSizes, quickSizes, type Sizes } from './bars.ts';
import type { Target } from './call.ts';
import { startChild } from './child.ts';
import { pin } from './process-figures.ts';
import { createReport, type Report } from './report.ts';

/** What every part of the bench works with. */
export interface Bench {
  report: Report;
  sizes: Sizes;
  /** The bare proxy on both sides: what this machine and this harness call equal. */
  self: boolean;
  /** `null` where processes cannot be bound to a core, or where this part is not to be. */
  coreUnderTest: number | null;
  loadCore: number | null;
  /** This process is what is measured from now on: on the core under test, while the processes that it has started have the other. */
  measureSelf(): Disposable;
  /** At the end, the latest first. */
  later(stop: () => Promise<unknown>): void;
  /** A script of this folder that prints its port once it listens. */
  start(
    file: string,
    args: readonly string[],
    core: number | null,
    nodeFlags?: readonly string[],
  ): Promise<Started>;
  bareProxy(name: string, upstream: string): Promise<Target>;
}

export interface Started {
  pid: number;
  port: number;
}

/** Runs one part, prints its bars and ends with 1 when one was missed. `pinned`: what is measured has a core of its own. */
export async function runPart(
  title: string,
  { pinned: wanted }: { pinned: boolean },
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      self: { type: 'boolean', default: false },
      /** A run of seconds, to see that everything works. */
      quick: { type: 'boolean', default: false },
    },
  });
  const startedMs = performance.now();
  const report = createReport();
  const pinned = wanted && cpus().length > 1 && pin(process.pid, cores.load);
  const stops: (() => Promise<unknown>)[] = [];
  const bench: Bench = {
    report,
    sizes: options.quick ? quickSizes : fullSizes,
    self: options.self,
    coreUnderTest: pinned ? cores.underTest : null,
    loadCore: pinned ? cores.load : null,
    measureSelf() {
      if (pinned) pin(process.pid, cores.underTest);
      return { [Symbol.dispose]: () => void (pinned && pin(process.pid, cores.load)) };
    },
    later: (stop) => void stops.push(stop),
    async start(file, args, core, nodeFlags = []) {
      const child = startChild([...nodeFlags, fileURLToPath(new URL(file, import.meta.url)), ...args], {
        core,
      });
      stops.push(child.stop);
      return { pid: child.pid, port: JSON.parse(await child.firstLine).port };
    },
    async bareProxy(name, upstream) {
      const started = await bench.start('bare-proxy.ts', ['--upstream', upstream], bench.coreUnderTest);
      return targetOf(name, started, '/v1/chat/completions');
    },
  };
  report.heading(title);
  report.line(
    `Node ${process.version}, ${cpus().length} cores, ${pinned ? 'pinned' : 'NOT pinned'}, ${machineLoad()}`,
  );
  let met = false;
  try {
    await run(bench);
    report.line(machineLoad());
    met = report.close(performance.now() - startedMs);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
  process.exitCode = met ? 0 : 1;
}

export function targetOf(name: string, { pid, port }: Started, path: string): Target {
  const origin = `http://127.0.0.1:${port}`;
  return { name, pid, origin, path, authorizations: ['Bearer bench'], showsNanoUsd: false };
}

function machineLoad(): string {
  return `load average ${loadavg()[0]?.toFixed(1)} (another session's work makes figures rough)`;
}
