import { expect, test } from 'vitest';
import { z } from 'zod';
import { readText } from '../docs/repository-files.ts';
import type { CpuFigures } from './cpu-per-call.ts';
import { emptyLoad } from './load.ts';
import type { StreamFigures } from './open-streams.ts';
import { cheaperVerdict, smallerVerdict } from './peer-verdict.ts';

const versions = z.record(z.string(), z.string());
const manifest = z
  .object({ dependencies: versions, overrides: versions })
  .parse(JSON.parse(readText('test/bench/peers/package.json')));
const { packages } = z
  .object({
    packages: z.record(
      z.string(),
      z.object({ version: z.string().optional(), integrity: z.string().optional() }).loose(),
    ),
  })
  .parse(JSON.parse(readText('test/bench/peers/package-lock.json')));

test('everybody installs the same Portkey: each version is one, and locked by content', () => {
  const pinned = Object.entries({ ...manifest.dependencies, ...manifest.overrides });
  expect(pinned.map(([name]) => name).sort()).toEqual(['@hono/node-server', '@portkey-ai/gateway', 'hono']);
  for (const [name, version] of pinned) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    // A newer @hono/node-server would answer every stream with 500.
    const locked = Object.entries(packages).filter(([path]) => path.endsWith(`node_modules/${name}`));
    expect(locked.map(([, entry]) => entry.version)).toEqual([version]);
  }
  for (const [path, entry] of Object.entries(packages).filter(([path]) => path !== '')) {
    expect([path, typeof entry.integrity, 'resolved' in entry]).toEqual([path, 'string', false]);
  }
});

const memory = (rssMb: number) => ({ rssMb, pssMb: rssMb });

const cpuFigures = (name: string, cpuMsPerCall: number[], failed = 0): CpuFigures => ({
  name,
  cpuMsPerCall,
  callsPerSecond: [],
  busy: [],
  loads: [emptyLoad(), { ...emptyLoad(), failed }],
  memory: memory(100),
});

test('a bar of CPU is missed when Portkey is less than four times as dear, or when any call failed', () => {
  const gateway = cpuFigures('gateway', [0.1, 0.2, 0.1]);
  const met = (cpuMs: number[], failed = 0): boolean | null =>
    cheaperVerdict('call', cpuFigures('portkey', cpuMs, failed), gateway).met;
  expect(met([0.39, 0.78, 0.5])).toBe(false);
  // Round by round: the second round was noisy for both.
  expect(met([0.41, 0.82, 0.3])).toBe(true);
  expect(met([0.41, 0.82, 0.5], 1)).toBe(false);
  expect(cheaperVerdict('call', cpuFigures('portkey', [1, 1, 1]), cpuFigures('gateway', [0.1], 1)).met).toBe(
    false,
  );
  expect(met([])).toBe(false);
  expect(cheaperVerdict('call', cpuFigures('portkey', [0.39, 0.78, 0.5]), gateway)).toMatchObject({
    bar: 'CPU per call, portkey / gateway >= 4',
    measured: '3.90 (3.90 to 5.00), 0 failed',
  });
});

const streamFigures = (name: string, rssMb: number, openAtOnce: number, failed = 0): StreamFigures => ({
  name,
  before: memory(50),
  peak: memory(rssMb),
  openAtOnce,
  firstByteMs: [],
  cpuMsPerStream: 1,
  load: { ...emptyLoad(), failed },
});

test('a bar of memory counts only among processes that held all of the streams, and failed none', () => {
  const met = (peer: StreamFigures, gateway: StreamFigures): boolean | null =>
    smallerVerdict(1_000, peer, gateway).met;
  const gateway = streamFigures('gateway', 180, 1_000);
  expect(met(streamFigures('portkey', 181, 1_000), gateway)).toBe(true);
  expect(met(streamFigures('portkey', 180, 1_000), gateway)).toBe(false);
  expect(met(streamFigures('portkey', 300, 999), gateway)).toBe(false);
  expect(met(streamFigures('portkey', 300, 1_000, 1), gateway)).toBe(false);
  expect(met(streamFigures('portkey', 300, 1_000), streamFigures('gateway', 100, 999))).toBe(false);
});
