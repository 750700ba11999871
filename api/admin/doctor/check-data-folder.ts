import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatBytes } from '#core/format-bytes.ts';
import { freeBytes } from '#core/free-bytes.ts';
import { folderHolder } from '#core/ledger/embedded/sqlite-folder-lock.ts';
import { DISK_FREE_MIN_BYTES, GIGABYTE } from '#core/limits.ts';
import { findWritableByOthers, type OpenFolder } from '#core/writable-by-others.ts';
import type { StorageConfig } from '../../config/storage-settings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** With less free space on the disk of the data folder, the operator is warned. */
const DISK_FREE_LOW_BYTES = GIGABYTE;

const CHECK = 'data folder';

export function checkDataFolder({ dataDir }: Pick<StorageConfig, 'dataDir'>): Finding[] {
  const there = nearestAbove(dataDir);
  const isFolder = statSync(there, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder) return [problem(CHECK, `${there} is a file and no folder`, `Move it away, ${OR_CHOOSE}`)];
  if (!isWritable(there))
    return [problem(CHECK, `this user may not write into ${there}`, `Give it that right, ${OR_CHOOSE}`)];
  return [
    describe(dataDir, there === dataDir),
    ...checkOthers(findWritableByOthers(there)),
    ...checkDisk(freeBytes(dataDir)),
  ];
}

function checkOthers(open: OpenFolder | null): Finding[] {
  if (open === null) return [];
  const { path, why, todo } = open;
  return [warning(CHECK, `other users may change what is in it: ${path}, ${why}`, todo)];
}

export function checkDisk(free: number | null): Finding[] {
  if (free === null || free >= DISK_FREE_LOW_BYTES) return [];
  const left = `its disk has ${formatBytes(free)} left`;
  if (free >= DISK_FREE_MIN_BYTES)
    return [warning(CHECK, left, 'Make room before it is full: a full disk ends all calls.')];
  return [problem(CHECK, left, `Make room, ${OR_CHOOSE}`)];
}

const OR_CHOOSE = 'or choose another folder with FAREGATE_DATA.';

function describe(dataDir: string, exists: boolean): Finding {
  const free = freeBytes(dataDir);
  const room = free === null ? '' : `, ${formatBytes(free)} free`;
  if (!exists) return ok(CHECK, `${dataDir} is made by the first start${room}`);
  const holder = folderHolder(dataDir);
  if (holder === null) return ok(CHECK, `${dataDir} is writable, no gateway has it${room}`);
  const by = holder.pid === null ? 'a process' : `process ${holder.pid}`;
  return ok(CHECK, `${dataDir} is writable, the gateway of ${by} has it${room}`);
}

const nearestAbove = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestAbove(dirname(path));

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
