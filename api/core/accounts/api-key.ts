import { createHmac, type KeyObject } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '#core/ids.ts';

/*
 * `fg_` + 32 random letters and digits (190 bits) + 6 characters of checksum. The fixed start lets secret
 * scanners find a leaked key; the checksum lets a mistyped or made-up key be refused without a look-up.
 */
const START = 'fg_';
const RANDOM_CHARS = 32;
const CHECKSUM_CHARS = 6;
const SHOWN_CHARS = 12;
const SHAPE = new RegExp(`^${START}[0-9A-Za-z]{${RANDOM_CHARS + CHECKSUM_CHARS}}$`);

/**
 * What keys are hashed with. Two exist while one replaces the other: the id in a hash tells which made it.
 */
export interface Pepper {
  id: string;
  secret: KeyObject;
}

export interface NewApiKey {
  /** The secret itself: shown once, never stored. */
  key: string;
  /** Leading characters, for recognition. */
  prefix: string;
}

export function createApiKey(): NewApiKey {
  const body = START + randomBase62(RANDOM_CHARS);
  const key = body + checksum(body);
  return { key, prefix: key.slice(0, SHOWN_CHARS) };
}

/** False for everything that no gateway can have made; says nothing about whether the key is known here. */
export function checkApiKeyShape(text: string): boolean {
  return SHAPE.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARS)));
}

/**
 * `<pepper id>.<HMAC-SHA256, base64url>`: what the ledger stores and looks up. No slow hash is needed,
 * because the key is random; the pepper makes a stolen journal useless for trying keys against it.
 */
export function hashApiKey(key: string, pepper: Pepper): string {
  return `${pepper.id}.${createHmac('sha256', pepper.secret).update(key).digest('base64url')}`;
}

/** Of the pepper that made the hash. */
export const pepperIdOf = (hash: string): string => hash.split('.', 1)[0] ?? '';

const checksum = (body: string): string => toBase62(crc32(body), CHECKSUM_CHARS);
