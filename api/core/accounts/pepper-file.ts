import { createSecretKey, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { randomBase62 } from '#core/ids.ts';
import type { Pepper } from './api-key.ts';

const FILE = 'pepper.json';
const OWNER_ONLY = 0o600;
const SECRET_BYTES_MIN = 32;

const stored = z.strictObject({ id: z.string().regex(/^[0-9A-Za-z]{1,16}$/), secret: z.base64url() });

/**
 * The pepper of a gateway that keeps its own: made at the first start. Without it no key that was ever made
 * can be recognised, so it is on disk, whole and under its final name, before any key is hashed with it.
 */
export function loadOrCreatePepper(dataDir: string): Pepper {
  const path = join(dataDir, FILE);
  return parsePepper(readIfThere(path) ?? createPepperFile(dataDir, path), path);
}

/** Two processes that start at once agree: a link, unlike a rename, never replaces what is there. */
function createPepperFile(dataDir: string, path: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const secret = randomBytes(SECRET_BYTES_MIN).toString('base64url');
  const text = `${JSON.stringify({ id: randomBase62(4), secret })}\n`;
  const temporary = `${path}.${randomBase62(8)}`;
  const file = openSync(temporary, 'wx', OWNER_ONLY);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(temporary, path);
    syncFolder(dataDir);
    return text;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return readFileSync(path, 'utf8');
  } finally {
    unlinkSync(temporary);
  }
}

function parsePepper(text: string, path: string): Pepper {
  const damaged = () =>
    new Error(`${path} is damaged. Restore it from a backup: no existing API key works without it.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged();
  }
  const parsed = stored.safeParse(value);
  if (!parsed.success) throw damaged();
  const secret = Buffer.from(parsed.data.secret, 'base64url');
  if (secret.length < SECRET_BYTES_MIN) throw damaged();
  return { id: parsed.data.id, secret: createSecretKey(secret) };
}

function readIfThere(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8');
    // A copy made by a careless backup tool may be readable by others.
    chmodSync(path, OWNER_ONLY);
    return text;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Makes the new name itself survive a power cut. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
