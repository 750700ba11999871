import { join } from 'node:path';
import { readOrCreatePrivateFile } from '#core/accounts/private-file.ts';
import { randomBase62 } from '#core/ids.ts';
import { SECRET_CHARS_MAX } from '#core/limits.ts';
import { Secret } from '#core/secret.ts';

export const ADMIN_TOKEN_FILE = 'admin-token';
/** The start lets secret scanners, and our own log, find it; it can never be taken for an API key. */
const START = 'fg_admin_';
const RANDOM_CHARS = 40;
const SHAPE = /^\S{32,}$/;

/** The operator's token where none is configured: made at the first start, in a file of the data folder. */
export function loadOrCreateAdminToken(dataDir: string): Secret {
  const path = join(dataDir, ADMIN_TOKEN_FILE);
  const text = readOrCreatePrivateFile(path, () => `${START}${randomBase62(RANDOM_CHARS)}\n`);
  const token = parseAdminToken(text);
  if (token !== null) return token;
  throw new Error(`${path} holds no token. Delete it: the next start makes a new one.`);
}

/** `null` when the text is no token that is safe to use: empty, short, or with spaces in it. */
export function parseAdminToken(text: string): Secret | null {
  const token = text.trim();
  return SHAPE.test(token) && token.length <= SECRET_CHARS_MAX ? new Secret(token) : null;
}
