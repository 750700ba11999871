import { createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { randomBase62 } from '#core/ids.ts';
import { parseJson } from '../parse-json.ts';
import type { Pepper } from './api-key.ts';
import { readOrCreatePrivateFile, readPrivateFile, writePrivateFile } from './private-file.ts';

export const PEPPER_FILE = 'pepper.json';
const SECRET_BYTES_MIN = 32;

/** Both alphabets of base64: the secret of a cluster may have been put here by hand. */
const stored = z.strictObject({
  id: z.string().regex(/^[0-9A-Za-z]{1,16}$/),
  secret: z.string().regex(/^[A-Za-z0-9+/_-]+={0,2}$/),
});

/**
 * The pepper of a gateway that keeps its own: made at the first start. Without it no key that was ever made can be
 * recognised, so it is on disk, whole and under its final name, before any key is hashed with it. Throws
 * `PepperError` when it is damaged, or missing beside a ledger in use.
 */
export function loadOrCreatePepper(dataDir: string, { ledgerInUse }: { ledgerInUse: boolean }): Pepper {
  const path = join(dataDir, PEPPER_FILE);
  if (ledgerInUse && readPrivateFile(path) === null) throw new PepperError(path, 'missing');
  return parsePepper(
    readOrCreatePrivateFile(path, () => printPepper(newPepper())),
    path,
  );
}

export const hasPepper = (dataDir: string): boolean => readPrivateFile(join(dataDir, PEPPER_FILE)) !== null;

/** `null` when there is none. Throws `PepperError` when it is damaged. */
export function readPepper(dataDir: string): Pepper | null {
  const path = join(dataDir, PEPPER_FILE);
  const text = readPrivateFile(path);
  return text === null ? null : parsePepper(text, path);
}

export const writePepper = (dataDir: string, pepper: Pepper): void =>
  writePrivateFile(join(dataDir, PEPPER_FILE), printPepper(pepper));

export const newPepper = (): Pepper => ({
  id: randomBase62(4),
  secret: createSecretKey(randomBytes(SECRET_BYTES_MIN)),
});

export class PepperError extends Error {
  override readonly name = 'PepperError';

  constructor(path: string, problem: 'damaged' | 'missing') {
    super(`${path} is ${problem}. Restore it from a backup: no existing API key works without it.`);
  }
}

const printPepper = ({ id, secret }: Pepper): string =>
  `${JSON.stringify({ id, secret: secret.export().toString('base64url') })}\n`;

function parsePepper(text: string, path: string): Pepper {
  const parsed = stored.safeParse(parseJson(text));
  if (!parsed.success) throw new PepperError(path, 'damaged');
  const secret = Buffer.from(parsed.data.secret, 'base64');
  if (secret.length < SECRET_BYTES_MIN) throw new PepperError(path, 'damaged');
  return { id: parsed.data.id, secret: createSecretKey(secret) };
}
