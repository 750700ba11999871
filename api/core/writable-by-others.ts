import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

export interface OpenFolder {
  /** The folder, or one above it: whoever may write there may put another folder in its place. */
  path: string;
  /** The reason in words, as "its group and all users may write to it". */
  why: string;
  /** A sentence. */
  todo: string;
}

interface User {
  uid: number;
  gid: number;
}

const GROUP_WRITE = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
const ROOT = 0;

/** The first folder from `folder` upwards in which users beside us and root may make changes. `null`: none, or no such folder. */
export function findWritableByOthers(folder: string, user: User | null = thisUser()): OpenFolder | null {
  // A system without users has no others.
  if (user === null) return null;
  const real = resolveFolder(folder);
  if (real === null) return null;
  for (let path = real; ; path = dirname(path)) {
    const found = whyOpen(path, path === real, user);
    if (found !== null) return { path, ...found };
    if (dirname(path) === path) return null;
  }
}

function whyOpen(path: string, isFolderItself: boolean, user: User): Omit<OpenFolder, 'path'> | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.uid !== ROOT && stats.uid !== user.uid)
    return {
      why: `it belongs to user ${stats.uid}`,
      todo: `Run the gateway as user ${stats.uid}, or choose another folder with FAREGATE_DATA.`,
    };
  // There only the owner of an entry may rename or remove it, as in /tmp.
  if (!isFolderItself && (stats.mode & STICKY) !== 0) return null;
  const who = writersOf(stats, user);
  if (who.length === 0) return null;
  return { why: `${who.join(' and ')} may write to it`, todo: `Run: chmod go-w ${path}` };
}

function writersOf({ mode, gid }: Stats, user: User): string[] {
  const who: string[] = [];
  if ((mode & GROUP_WRITE) !== 0 && !isOwnGroup(gid, user)) who.push(`its group (${gid})`);
  if ((mode & OTHERS_WRITE) !== 0) who.push('all users');
  return who;
}

/** A group of the user's own number has no other member by convention; Kubernetes mounts volumes with the pod's own group. */
const isOwnGroup = (gid: number, user: User): boolean =>
  gid === ROOT || (gid === user.gid && gid === user.uid);

function resolveFolder(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}

function thisUser(): User | null {
  const uid = process.geteuid?.();
  const gid = process.getegid?.();
  return uid === undefined || gid === undefined ? null : { uid, gid };
}
