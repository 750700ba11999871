import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Linux says what a process used; elsewhere the bars of CPU and memory are not measured. */
export const canMeasure = existsSync('/proc/self/stat');

const TICKS_PER_SECOND = 100;
const FIELDS_BEFORE_UTIME = 11;

/** User and system time of all threads since the process began, in milliseconds, in steps of ten. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold blanks; the numbered fields follow it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[FIELDS_BEFORE_UTIME]) + Number(fields[FIELDS_BEFORE_UTIME + 1]);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

export interface Memory {
  rssMb: number;
  /** Shared pages counted in part; the fairer figure of one process. */
  pssMb: number;
}

export function memoryOf(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]) / 1_024;
  return { rssMb: megabytes('Rss'), pssMb: megabytes('Pss') };
}

/** The most that it ever had, between two looks too. */
export function peakRssMb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** Binds all threads of a process to one core. `false` where there is no `taskset`. */
export function pin(pid: number, core: number): boolean {
  try {
    execFileSync('taskset', ['-a', '-cp', String(core), String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
