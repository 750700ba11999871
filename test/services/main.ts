import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { canMeasure, memoryOf } from '../bench/process-figures.ts';
import { requireAnswer } from './require-answer.ts';
import { type ServiceName, serviceNames } from './service.ts';
import { givenIn, startService } from './start-service.ts';

/*
 * `make services` and `make services-stop`: real stores on loopback, with their data under `.services`, for as long
 * as a developer wants them.
 */
const FOLDER = resolve('.services');
const FILE = join(FOLDER, 'running.json');
const STOP_MS = 30_000;

const runningFile = z.partialRecord(z.enum(serviceNames), z.object({ pid: z.int(), address: z.string() }));
type Running = z.infer<typeof runningFile>;

async function start(): Promise<void> {
  const began = performance.now();
  // What is still starting ends with this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const running = aliveOf(readRunning());
  const rows: Record<string, object> = {};
  const started = await Promise.allSettled(
    serviceNames.map(async (name) => {
      const given = process.env[givenIn[name]];
      if (given !== undefined) {
        await requireAnswer(name, given);
        rows[name] = { address: given, from: givenIn[name] };
        return;
      }
      const known = running[name];
      if (known !== undefined) {
        rows[name] = { address: known.address, from: 'running already', pid: known.pid };
        return;
      }
      const service = await startService[name]({ dir: join(FOLDER, name), detached: true });
      running[name] = { pid: service.pid, address: service.address };
      // At once: whoever interrupts the rest has to be able to stop this one.
      writeRunning(running);
      rows[name] = { address: service.address, from: 'started', pid: service.pid, startMs: service.startMs };
    }),
  );
  for (const [name, { pid }] of Object.entries(running)) {
    rows[name] = { ...rows[name], memoryMb: canMeasure ? Math.round(memoryOf(pid).rssMb) : null };
  }
  console.table(rows);
  console.log(`${((performance.now() - began) / 1000).toFixed(1)} s. Stop them with \`make services-stop\`.`);
  console.log(exportLines(rows));
  const failed = started.flatMap((result, i) =>
    result.status === 'rejected' ? [{ name: serviceNames[i], ...result }] : [],
  );
  for (const { name, reason } of failed) {
    const message = reason instanceof Error ? reason.message : String(reason);
    const isGiven = name !== undefined && process.env[givenIn[name]] !== undefined;
    console.error(isGiven ? message : `${message} Or name one that you have in ${name && givenIn[name]}.`);
  }
  process.exit(failed.length > 0 ? 1 : 0);
}

const exportLines = (rows: Record<string, object>): string =>
  serviceNames
    .flatMap((name) => {
      const row = rows[name];
      if (row === undefined || !('address' in row)) return [];
      const scheme = name === 'redis' && !String(row.address).includes('://') ? 'redis://' : '';
      return [`export ${givenIn[name]}=${scheme}${row.address}`];
    })
    .join('\n');

async function stop(): Promise<void> {
  const running = readRunning();
  const alive = Object.entries(aliveOf(running));
  for (const [, { pid }] of alive) process.kill(pid, 'SIGTERM');
  const giveUpAt = performance.now() + STOP_MS;
  while (Object.keys(aliveOf(running)).length > 0 && performance.now() < giveUpAt) await sleep(50);
  for (const { pid } of Object.values(aliveOf(running))) process.kill(pid, 'SIGKILL');
  rmSync(FILE, { force: true });
  console.log(alive.length === 0 ? 'Nothing runs.' : `Stopped ${alive.map(([name]) => name).join(', ')}.`);
}

function writeRunning(running: Running): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FILE, JSON.stringify(running, null, 2));
}

function readRunning(): Running {
  return existsSync(FILE) ? runningFile.parse(JSON.parse(readFileSync(FILE, 'utf8'))) : {};
}

/** A pid is only ours while its process still works below our folder: pids are used again. */
function aliveOf(running: Running): Running {
  const isOurs = ([name, { pid }]: [string, { pid: number }]): boolean => {
    try {
      return `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${join(FOLDER, name)}/`);
    } catch {
      return false;
    }
  };
  return Object.fromEntries(Object.entries(running).filter(isOurs)) satisfies Partial<
    Record<ServiceName, unknown>
  >;
}

const commands: Record<string, () => Promise<void>> = { start, stop };
await commands[process.argv[2] ?? '']?.();
