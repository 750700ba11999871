import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { readOrCreatePrivateFile } from '../accounts/private-file.ts';
import { SECOND_MS } from '../clock.ts';

/** What the holder of a link may do. */
export type LinkGrant = { method: 'GET' } | { method: 'PUT'; bytes: number };

export interface LocalLinks {
  /** Of a link, behind the question mark. */
  query(path: string, grant: LinkGrant, untilMs: number): string;
  /** Only who has a genuine link is told that it has expired. */
  check(method: 'GET' | 'PUT', path: string, query: string, nowMs: number): LinkCheck;
}

export type LinkCheck =
  | { ok: true; grant: LinkGrant; untilMs: number }
  | { ok: false; reason: 'forged' | 'expired' };

export const LINK_KEY_FILE = 'file-links.key';
const KEY_BYTES = 32;

/** To the letter as `query` writes them: what is read in one way only cannot be read in two. */
const QUERIES = {
  GET: /^expires=([1-9]\d{0,11})&signature=([\w-]{43})$/,
  PUT: /^expires=([1-9]\d{0,11})&bytes=([1-9]\d{0,11})&signature=([\w-]{43})$/,
} as const;

export function createLocalLinks(key: KeyObject): LocalLinks {
  const sign = (path: string, grant: LinkGrant, expires: number): string => {
    const bytes = grant.method === 'PUT' ? grant.bytes : '';
    return createHmac('sha256', key)
      .update(['faregate file link', grant.method, path, expires, bytes].join('\n'))
      .digest('base64url');
  };
  return {
    query(path, grant, untilMs) {
      const expires = Math.floor(untilMs / SECOND_MS);
      const bytes = grant.method === 'PUT' ? `&bytes=${grant.bytes}` : '';
      return `expires=${expires}${bytes}&signature=${sign(path, grant, expires)}`;
    },
    check(method, path, query, nowMs) {
      const [, expiresText, ...more] = QUERIES[method].exec(query) ?? [];
      // As text: its last letter has bits that say nothing.
      const signature = Buffer.from(more.at(-1) ?? '');
      const grant: LinkGrant = method === 'GET' ? { method } : { method, bytes: Number(more[0]) };
      const expires = Number(expiresText);
      const genuine = Buffer.from(sign(path, grant, expires));
      if (signature.length !== genuine.length || !timingSafeEqual(signature, genuine)) {
        return { ok: false, reason: 'forged' };
      }
      const untilMs = expires * SECOND_MS;
      return nowMs < untilMs ? { ok: true, grant, untilMs } : { ok: false, reason: 'expired' };
    },
  };
}

/** Made at the first start. When it is lost, the links of the last day end early, and nothing else does. */
export function loadOrCreateLinkKey(dataDir: string): KeyObject {
  const path = join(dataDir, LINK_KEY_FILE);
  const text = readOrCreatePrivateFile(path, () => `${randomBytes(KEY_BYTES).toString('base64url')}\n`);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== KEY_BYTES) throw new Error(`${path} is damaged: delete it, and a new one is made.`);
  return createSecretKey(bytes);
}
