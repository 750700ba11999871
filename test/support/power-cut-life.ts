import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const LOAD = fileURLToPath(new URL('../ledger/kill-load.ts', import.meta.url));

export interface LifeOptions {
  /** Holds the data, what is told, the record of the disk and the faults' control file. */
  folder: string;
  shim: string;
  seed: number;
  record: boolean;
}

export const dataOf = (folder: string): string => join(folder, 'data');
export const toldOf = (folder: string): string => join(folder, 'told.lines');
export const recordOf = (folder: string): string => join(folder, 'disk.record');

export type FaultAction = 'ENOSPC' | 'EIO' | 'SHORT' | number;

/** A process under load, from its start to its death, whose disk can be made to fail. */
export interface Life {
  /**
   * The next `count` writes or syncs fail so, or take this many milliseconds; with `fromBytes` from the first on
   * that finds so much written since the last sync.
   */
  fault(call: 'write' | 'sync', action: FaultAction, count: number, fromBytes?: number): void;
  heal(): void;
  /** Resolves once that much more was told to clients. */
  tells(bytes: number, timeoutMs?: number): Promise<boolean>;
  /** Lines that the ledger logged, and `refusing` whenever it began to refuse. */
  logged(line: string): number;
  /** Recorded: between two changes of its disk, so that the record is what the next process finds. */
  kill(): Promise<void>;
}

let faults = 0;
const RECORDED_DEATH_MS = 20_000;
export const FOREVER = 1_000_000;

export function startLife({ folder, shim, seed, record }: LifeOptions): Life {
  const control = join(folder, 'faults');
  // At once: a look between the file's end and its new line would find no fault.
  const tell = (line: string): void => {
    writeFileSync(`${control}.new`, line);
    renameSync(`${control}.new`, control);
  };
  tell('');
  const child = spawn(process.execPath, [LOAD, dataOf(folder), String(seed), toldOf(folder)], {
    stdio: 'inherit',
    env: {
      ...process.env,
      LD_PRELOAD: shim,
      FAULT_ROOT: dataOf(folder),
      FAULT_TOLD: toldOf(folder),
      FAULT_CONTROL: control,
      ...(record ? { FAULT_RECORD: recordOf(folder) } : {}),
    },
  });
  const ended = once(child, 'exit');
  const toldBytes = () => (existsSync(toldOf(folder)) ? statSync(toldOf(folder)).size : 0);

  return {
    fault(call, action, count, fromBytes = 0) {
      tell(`f${++faults} ${call} ${action} ${fromBytes} ${count}\n`);
    },
    heal: () => tell(''),
    logged: (line) => linesOf(`${toldOf(folder)}.log`).filter((each) => each === line).length,
    async tells(bytes, timeoutMs = 20_000) {
      const from = toldBytes();
      const lastMs = performance.now() + timeoutMs;
      while (toldBytes() < from + bytes) {
        if (child.exitCode !== null) throw new Error(`the process ended by itself with ${child.exitCode}`);
        if (performance.now() > lastMs) return false;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return true;
    },
    async kill() {
      if (record) {
        tell(`f${++faults} any DIE 0 1\n`);
        await Promise.race([ended, delay(RECORDED_DEATH_MS, undefined, { ref: false })]);
      }
      const hasDied = child.signalCode !== null;
      child.kill('SIGKILL');
      await ended;
      if (record && !hasDied) throw new Error('a process has changed nothing since it was told to die');
    },
  };
}

const linesOf = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
