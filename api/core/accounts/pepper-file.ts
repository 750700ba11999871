import { createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { randomBase62 } from '#core/ids.ts';
import type { Pepper } from './api-key.ts';
import { readOrCreatePrivateFile, readPrivateFile } from './private-file.ts';

const FILE = 'pepper.json';
const SECRET_BYTES_MIN = 32;

const stored = z.strictObject({ id: z.string().regex(/^[0-9A-Za-z]{1,16}$/), secret: z.base64url() });

/**
 * The pepper of a gateway that keeps its own: made at the first start. Without it no key that was ever made can be
 * recognised, so it is on disk, whole and under its final name, before any key is hashed with it. Throws
 * `PepperError` when it is damaged, or missing beside a ledger in use.
 */
export function loadOrCreatePepper(dataDir: string, { ledgerInUse }: { ledgerInUse: boolean }): Pepper {
  const path = join(dataDir, FILE);
  if (ledgerInUse && readPrivateFile(path) === null) throw new PepperError(path, 'missing');
  return parsePepper(readOrCreatePrivateFile(path, makePepperText), path);
}

export const hasPepper = (dataDir: string): boolean => readPrivateFile(join(dataDir, FILE)) !== null;

export class PepperError extends Error {
  override readonly name = 'PepperError';

  constructor(path: string, problem: 'damaged' | 'missing') {
    super(`${path} is ${problem}. Restore it from a backup: no existing API key works without it.`);
  }
}

function makePepperText(): string {
  const secret = randomBytes(SECRET_BYTES_MIN).toString('base64url');
  return `${JSON.stringify({ id: randomBase62(4), secret })}\n`;
}

function parsePepper(text: string, path: string): Pepper {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PepperError(path, 'damaged');
  }
  const parsed = stored.safeParse(value);
  if (!parsed.success) throw new PepperError(path, 'damaged');
  const secret = Buffer.from(parsed.data.secret, 'base64url');
  if (secret.length < SECRET_BYTES_MIN) throw new PepperError(path, 'damaged');
  return { id: parsed.data.id, secret: createSecretKey(secret) };
}
