import { createSecretKey } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { checkApiKeyShape, createApiKey, hashApiKey, type Pepper } from '#core/accounts/api-key.ts';
import { loadOrCreatePepper } from '#core/accounts/pepper-file.ts';

const pepper = (text: string): Pepper => ({ id: 'p1', secret: createSecretKey(Buffer.from(text)) });

const fresh = { ledgerInUse: false };

describe('API keys', () => {
  test('a key is fg_ and 38 letters and digits, known by its first 12, and never made twice', () => {
    const made = Array.from({ length: 500 }, createApiKey);
    for (const { key, prefix } of made) {
      expect(key).toMatch(/^fg_[0-9A-Za-z]{38}$/);
      expect(prefix).toBe(key.slice(0, 12));
      expect(checkApiKeyShape(key)).toBe(true);
    }
    expect(new Set(made.map(({ key }) => key)).size).toBe(500);
  });

  test('a key with any one character changed, lost, added or swapped is recognised as no key', () => {
    const { key } = createApiKey();
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === 'a' ? 'b' : 'a';
      expect(checkApiKeyShape(key.slice(0, i) + other + key.slice(i + 1))).toBe(false);
      expect(checkApiKeyShape(key.slice(0, i) + key.slice(i + 1))).toBe(false);
      expect(checkApiKeyShape(`${key.slice(0, i)}a${key.slice(i)}`)).toBe(false);
      const swapped = key.slice(0, i) + (key[i + 1] ?? '') + (key[i] ?? '') + key.slice(i + 2);
      if (swapped !== key) expect(checkApiKeyShape(swapped)).toBe(false);
    }
  });

  test.each(['', 'fg_', 'fg_\n', `sk-${'a'.repeat(38)}`, `fg_${'a'.repeat(9999)}`, `fg_${'é'.repeat(38)}`])(
    '%j is no key',
    (text) => expect(checkApiKeyShape(text)).toBe(false),
  );

  test('the hash names its pepper, depends on it, and holds nothing of the key', () => {
    const { key, prefix } = createApiKey();
    const hash = hashApiKey(key, pepper('one'));
    expect(hash).toMatch(/^p1\.[\w-]{43}$/);
    expect(hashApiKey(key, pepper('one'))).toBe(hash);
    expect(hashApiKey(key, pepper('two'))).not.toBe(hash);
    expect(hash).not.toContain(prefix.slice(3));
  });
});

describe('the pepper file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pepper-'));
  const path = join(folder, 'data', 'pepper.json');
  afterEach(() => rmSync(join(folder, 'data'), { recursive: true, force: true }));
  const hashWith = (given: Pepper) => hashApiKey('fg_x', given);

  test('is made once, readable by its owner only, and read back the same', () => {
    const made = loadOrCreatePepper(join(folder, 'data'), fresh);
    expect(hashWith(loadOrCreatePepper(join(folder, 'data'), fresh))).toBe(hashWith(made));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'data'))).toEqual(['pepper.json']);
    expect(JSON.stringify(made)).not.toContain(JSON.parse(readFileSync(path, 'utf8')).secret);
  });

  test('that is missing beside a ledger in use is not made anew: every key would be lost', () => {
    const data = join(folder, 'data');
    expect(() => loadOrCreatePepper(data, { ledgerInUse: true })).toThrow(
      /pepper\.json is missing\. Restore it from a backup/,
    );
    expect(existsSync(path)).toBe(false);
  });

  test('that others may read is closed again', () => {
    loadOrCreatePepper(join(folder, 'data'), fresh);
    chmodSync(path, 0o644);
    loadOrCreatePepper(join(folder, 'data'), fresh);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each(['', '{', '{}', '{"id":"a","secret":"c2hvcnQ"}', '{"id":"","secret":"x"}'])(
    'that holds %j is refused with what to do, never replaced',
    (text) => {
      loadOrCreatePepper(join(folder, 'data'), fresh);
      writeFileSync(path, text);
      expect(() => loadOrCreatePepper(join(folder, 'data'), fresh)).toThrow(
        /is damaged\. Restore it from a backup/,
      );
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );
});
