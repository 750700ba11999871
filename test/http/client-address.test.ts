import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createClientAddress } from '../../api/http/client-address.ts';

const PROXIES = ['10.0.0.0/8', '192.0.2.7', '2001:db8:ff::/48'];

function addressOf(
  peer: string | undefined,
  forwarded?: string,
  proxies: readonly string[] = PROXIES,
): string {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer });
  return createClientAddress(proxies)({
    socket,
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  });
}

describe('without a proxy', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['::FFFF:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::203.0.113.9', '64:ff9b:0:0::/64'],
    ['::203.0.113.9', '0:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('%s counts as %s', (peer, counted) => {
    expect(addressOf(peer)).toBe(counted);
  });
});

describe('X-Forwarded-For', () => {
  test.each([
    ['a stranger', '203.0.113.9'],
    ['a stranger that says it is a proxy', '198.51.100.4'],
    ['a neighbour of the proxy', '192.0.2.8'],
    ['a stranger by IPv6', '2001:db8:fe::1'],
  ])('of %s is not believed', (_, peer) => {
    expect(addressOf(peer, '198.51.100.1')).toBe(addressOf(peer));
    expect(addressOf(peer, '10.0.0.1, 198.51.100.1')).toBe(addressOf(peer));
  });

  test('is believed of nobody where no proxy is configured', () => {
    expect(addressOf('10.0.0.1', '198.51.100.1', [])).toBe('10.0.0.1');
  });

  test.each([
    ['one proxy in front', '198.51.100.1', '198.51.100.1'],
    ['two of ours', '198.51.100.1, 10.1.2.3', '198.51.100.1'],
    ['what a client wrote before the first of ours', '203.0.113.1, 198.51.100.1, 10.1.2.3', '198.51.100.1'],
    ['a client that names one of ours', '10.9.9.9, 198.51.100.1', '198.51.100.1'],
    ['our own network alone', '10.9.9.9, 10.1.2.3', '10.9.9.9'],
    ['IPv6', '2001:db8:1:2::5', '2001:db8:1:2::/64'],
    ['a proxy by IPv6', '198.51.100.1, 2001:db8:ff:1::1', '198.51.100.1'],
    ['mapped', '::ffff:198.51.100.1, ::ffff:10.1.2.3', '198.51.100.1'],
    ['no blanks', '203.0.113.1,198.51.100.1', '198.51.100.1'],
    ['many blanks', '  203.0.113.1  ,\t198.51.100.1  ', '198.51.100.1'],
    ['with a port', '198.51.100.1:4711', '198.51.100.1'],
    ['IPv6 with a port', '[2001:db8:1:2::5]:4711', '2001:db8:1:2::/64'],
    ['IPv6 in brackets', '[2001:db8:1:2::5]', '2001:db8:1:2::/64'],
  ])('%s', (_, forwarded, counted) => {
    expect(addressOf('10.0.0.1', forwarded)).toBe(counted);
    expect(addressOf('::ffff:10.0.0.1', forwarded)).toBe(counted);
    expect(addressOf('192.0.2.7', forwarded)).toBe(counted);
  });

  test.each([
    ['', '10.0.0.1'],
    [',', '10.0.0.1'],
    ['unknown', '10.0.0.1'],
    ['198.51.100.1, unknown', '10.0.0.1'],
    ['198.51.100.1, unknown, 10.1.2.3', '10.1.2.3'],
    ['198.51.100.1, , 10.1.2.3', '10.1.2.3'],
    ['198.51.100.256', '10.0.0.1'],
    ['198.51.100.01', '10.0.0.1'],
    ['198.51.100', '10.0.0.1'],
    ['0x7f000001', '10.0.0.1'],
    ['3325256705', '10.0.0.1'],
    ['fe80::1%eth0', '10.0.0.1'],
    ['for=198.51.100.1', '10.0.0.1'],
    ['198.51.100.1; drop', '10.0.0.1'],
    [`${'9'.repeat(8_000)}`, '10.0.0.1'],
  ])('of a proxy of ours ends at the last good address: %s', (forwarded, counted) => {
    expect(addressOf('10.0.0.1', forwarded)).toBe(counted);
  });

  test('of thousands of addresses is read to the first that is not ours', () => {
    expect(addressOf('10.0.0.1', `${'203.0.113.1,'.repeat(1_000)}198.51.100.1`)).toBe('198.51.100.1');
  });
});

describe('a trusted network', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['::ffff:10.0.0.0/104', '10.255.0.1'],
    ['::ffff:0:0/96', '10.0.0.1'],
    ['::/0', '10.0.0.1'],
    ['0.0.0.0/0', '10.0.0.1'],
    ['::/0', '2001:db8::1'],
    ['::10.0.0.1', '::10.0.0.1'],
    ['::10.0.0.1', '0::a00:1'],
  ])('%s has %s in it', (network, peer) => {
    expect(addressOf(peer, '198.51.100.1', [network])).toBe('198.51.100.1');
  });

  test.each([
    ['::ffff:10.0.0.0/104', '11.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.2'],
    ['::ffff:0:0/96', '2001:db8::1'],
    ['0.0.0.0/0', '2001:db8::1'],
    ['::10.0.0.1', '10.0.0.1'],
    ['10.0.0.1', '::10.0.0.1'],
  ])('%s does not have %s in it', (network, peer) => {
    expect(addressOf(peer, '198.51.100.1', [network])).toBe(addressOf(peer));
  });
});
