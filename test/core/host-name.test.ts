import { describe, expect, test } from 'vitest';
import { isHostName, withoutRootDot } from '#core/host-name.ts';

const label = 'a'.repeat(63);
const longest = [label, label, label, 'a'.repeat(61)].join('.');

describe('a host name', () => {
  test.each([
    'example.com',
    'example.com.',
    'localhost',
    'a.b.c.d.e',
    'xn--bcher-kva.example',
    '127.0.0.1',
    '[::1]',
    `${label}.example`,
    longest,
    `${longest}.`,
  ])('keeps to the bounds of DNS: %s', (host) => {
    expect(isHostName(host)).toBe(true);
  });

  test.each([
    ['has no character', ''],
    ['is the root alone', '.'],
    ['ends in two dots', 'example.com..'],
    ['begins with a dot', '.example.com'],
    ['has an empty label', 'images..example.com'],
    ['has thousands of empty labels', `a${'.'.repeat(2_000)}b`],
    ['has a label of 64 characters', `a${label}.example`],
    ['has a last label of 64 characters', `example.a${label}`],
    ['has 254 characters', `${longest}a`],
  ])('is refused when it %s', (_what, host) => {
    expect(isHostName(host)).toBe(false);
  });
});

test('the dot that ends a host name is left out, and no other dot is', () => {
  expect(withoutRootDot('example.com.')).toBe('example.com');
  expect(withoutRootDot('example.com')).toBe('example.com');
});
